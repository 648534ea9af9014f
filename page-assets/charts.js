// What pages use of Apache ECharts; `make page-assets` bundles it.
import { getInstanceByDom, init, use } from "echarts/core";
import { CustomChart, LineChart, ScatterChart } from "echarts/charts";
import { DataZoomInsideComponent, GridComponent, TooltipComponent } from "echarts/components";
import { SVGRenderer } from "echarts/renderers";

use([CustomChart, LineChart, ScatterChart, DataZoomInsideComponent, GridComponent, TooltipComponent, SVGRenderer]);

export { getInstanceByDom, init };
