"""Every kind of control of a page has a visible effect, by keys and by the mouse: `operate_all(tab, by)`."""

from __future__ import annotations

from typing import Any, Final, Literal

BOTH: Final = ("keys", "mouse")
FAR: Final = 50
"""A drag in a plot, in px."""

_HELPERS: Final = """() => {
    const shown = (one) => one.checkVisibility({ visibilityProperty: true });
    const overflows = (one) =>
        one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1;
    const all = (selector, part = document) => [...part.querySelectorAll(selector)];
    const kind = (one) => [
        one.tagName, one.type, one.className, Object.keys(one.dataset),
        one.parentElement.className, one.parentElement.parentElement.className,
        one.matches('.fold > summary, .controls > button') ? one.textContent : '',
        one.matches('select, input') ? Object.values(one.dataset) : '',
    ].join();
    const isOnScreen = (one) => {
        const { top, bottom } = one.getBoundingClientRect();
        return shown(one) && bottom > 0 && top < innerHeight;
    };
    // Drawing again changes ids and the order of shapes.
    const shape = (one) =>
        (one.childElementCount ? one.cloneNode() : one).outerHTML.replace(/zr\\d+-[\\w-]+/g, '');
    // What a reader sees, without the control's own mark: a checked box alone does not count.
    const page = () => JSON.stringify([
        location.href, String(getSelection()), document.body.innerText,
        all('svg').filter(isOnScreen).flatMap(svg => all('*', svg).map(shape)).sort(),
        all('[aria-sort], button, .scroll, pre')
            .map(one => [one.ariaSort, one.disabled, one.scrollLeft, one.scrollTop]),
    ]);
    const frame = () => new Promise(requestAnimationFrame);
    const isPointedAt = () => all('.tip').some(shown) && !control.matches('.canvas');
    window.settled = async () => {
        for (window.before = ''; before !== page() || isPointedAt(); await frame()) before = page();
    };
    // The pointer alone changes a plot.
    window.isChanged = (by) => by === 'mouse' && control.matches('.canvas') ?
        control.closest('[data-group]').matches('.zoomed') : page() !== before;
    // Fields of forms are sent with them, and a choice that is made already changes nothing.
    const CONTROLS = `a[href^="#"], button:not([type=submit], [data-choose][aria-pressed=true]),
        select:not([name]), input:not([name]), summary, .canvas, [tabindex="0"]`;
    const ZOOMED = '.canvas, .scroll:has(svg[data-turns])';
    const isOperated = (one, by) => {
        if (!shown(one) || one.disabled) return false;
        if (one.matches('a, button, summary, [type=checkbox], .canvas')) return true;
        return by === 'keys' && (one.matches(`select, input, ${ZOOMED}`) || overflows(one));
    };
    window.next = (within, tried, by) => {
        window.control = all(within).flatMap(part => all(CONTROLS, part))
            .find(one => isOperated(one, by) && !tried.includes(kind(one)));
        if (!control) return null;
        control.scrollIntoView({ block: 'center', behavior: 'instant' });
        if (by === 'keys') control.focus({ preventScroll: true });
        return kind(control);
    };
    window.key = () => {
        if (control.matches('summary, a, button')) return 'Enter';
        if (control.matches('[type=checkbox]')) return 'Space';
        if (control.matches('select')) return 'ArrowDown';
        if (control.matches('input')) return '~';
        if (control.matches(ZOOMED)) return '+';
        return control.scrollWidth > control.clientWidth + 1 ? 'ArrowRight' : 'ArrowDown';
    };
    // A filter hides other controls.
    window.restore = () => {
        if (!control.matches('select, input:not([type=checkbox])')) return;
        if (control.matches('select')) control.selectedIndex = 0;
        else control.value = '';
        for (const name of ['input', 'change']) control.dispatchEvent(new Event(name, { bubbles: true }));
    };
}"""


def operate_all(tab: Any, by: Literal["keys", "mouse"], within: str = "body") -> list[str]:
    """Operate the first visible control of each kind, and then the controls that this opens.

    The mouse does not operate what the browser itself does: lists of choices, texts and scrolling.

    Returns:
        The kinds, in order.

    Raises:
        playwright.sync_api.TimeoutError: A control has no visible effect; the message names the control.
    """
    tab.emulate_media(reduced_motion="reduce")  # else the page scrolls under the pointer after a link
    tab.evaluate(_HELPERS)
    tried: list[str] = []
    while True:
        tab.evaluate("settled()")
        kind = tab.evaluate("([within, tried, by]) => next(within, tried, by)", [within, tried, by])
        if kind is None:
            return tried
        tried.append(kind)
        control = tab.evaluate_handle("control").as_element()
        if by == "keys":
            tab.evaluate("settled()")
            tab.keyboard.press(tab.evaluate("key()"))
        else:
            tab.mouse.move(*_middle(control))
            tab.evaluate("settled()")
            x, y = _middle(control)
            tab.mouse.move(x, y)
            tab.mouse.down()
            if control.evaluate("one => one.matches('.canvas')"):
                tab.mouse.move(x + FAR, y)
            tab.mouse.up()
        try:
            tab.wait_for_function("by => isChanged(by)", arg=by)
        except Exception as error:
            error.add_note(f"by {by}: {control.evaluate('one => one.outerHTML.slice(0, 300)')}")
            raise
        tab.evaluate("restore()")


def _middle(control: Any) -> tuple[float, float]:
    box = control.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
