"""Google Sheets: a row per run in a worksheet, with column names in the first row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.exports.publishing import reported
from loadgen.sessions.errors import UsageError
from loadgen.sessions.extra_packages import importing

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.plugins.exports.publishing import RunRecord
    from loadgen.sessions.settings.export import ExportSettings

_OPTION: Final = "--to sheets"
_SCOPES: Final = ("https://www.googleapis.com/auth/spreadsheets",)
_RUN: Final = "run"
_ROWS: Final = 1000


def publish(settings: ExportSettings, record: RunRecord) -> str:
    """Publish a run; see `Publish`."""
    if settings.spreadsheet is None or settings.credentials is None:
        raise UsageError(f"{_OPTION}: give --spreadsheet ID and --credentials FILE of a service account")
    with importing(_OPTION, "sheets"):
        import gspread
        from google.auth.exceptions import GoogleAuthError
    account = _account(settings.credentials)
    with reported(_OPTION, (gspread.exceptions.GSpreadException, GoogleAuthError)):
        spreadsheet = gspread.authorize(account).open_by_key(settings.spreadsheet)
        _write(_worksheet(spreadsheet, settings.worksheet), record)
    return f"https://docs.google.com/spreadsheets/d/{settings.spreadsheet}, worksheet {settings.worksheet}"


def _account(file: Path) -> Any:
    """The credentials of a service account; no message repeats the file's contents."""
    from google.oauth2.service_account import Credentials

    try:
        return Credentials.from_service_account_file(str(file), scopes=_SCOPES)
    except OSError as error:
        raise UsageError(f"--credentials {file}: cannot be read ({error.strerror})") from None
    except ValueError:
        raise UsageError(
            f"--credentials {file}: not the key file of a service account, which is JSON"
        ) from None


def _worksheet(spreadsheet: Any, title: str) -> Any:
    import gspread

    try:
        return spreadsheet.worksheet(title)
    except gspread.exceptions.WorksheetNotFound:
        return spreadsheet.add_worksheet(title, _ROWS, 1)


def _write(worksheet: Any, record: RunRecord) -> None:
    """Write the row of a run: existing columns keep their place, and new columns follow."""
    values = {_RUN: record.run_id, "name": record.name, **record.config, **record.figures}
    header = [str(name) for name in worksheet.row_values(1)]
    columns = [*header, *(name for name in values if name not in header)]
    if columns != header:
        if worksheet.col_count < len(columns):
            worksheet.add_cols(len(columns) - worksheet.col_count)
        worksheet.update([columns], "A1", raw=True)
    row = [values.get(name, "") for name in columns]
    runs = worksheet.col_values(columns.index(_RUN) + 1)
    if record.run_id in runs:
        worksheet.update([row], f"A{runs.index(record.run_id) + 1}", raw=True)
    else:
        # As they are: a sheet takes no text of a run for a formula.
        worksheet.append_row(row, value_input_option="RAW", table_range="A1")
