import { type PanelPlan, type Row, rows } from './panels.ts'

/** Grafana's grid has 24 columns. */
const gridWidth = 24
const heights = { row: 1, stat: 5, lines: 8 }
const widths = { stat: 6, lines: 12 }

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces the variable.
const datasource = { type: 'prometheus', uid: '${datasource}' }

/** The version of Grafana's model of a dashboard. Newer versions of Grafana convert it. */
const schemaVersion = 39

/** Returns the dashboard in Grafana's JSON model, to be imported or provisioned. The data source is chosen in Grafana. */
export function dashboard() {
  return {
    uid: 'lockkeeper',
    title: 'Lockkeeper',
    description: 'What Lockkeeper promises, what it does, and how its services answer.',
    tags: ['lockkeeper'],
    schemaVersion,
    version: 1,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' }] },
    panels: layOut(rows),
  }
}

/** Places rows below each other, and the panels of a row side by side while they fit. */
function layOut(plans: Row[]) {
  const panels: object[] = []
  let y = 0
  for (const { title, panels: inRow } of plans) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: gridWidth, h: heights.row },
    })
    y += heights.row
    let x = 0
    let highest = 0
    for (const plan of inRow) {
      const [w, h] = [widths[plan.kind], heights[plan.kind]]
      if (x + w > gridWidth) {
        x = 0
        y += highest
        highest = 0
      }
      panels.push({ id: panels.length + 1, ...panelOf(plan), gridPos: { x, y, w, h } })
      x += w
      highest = Math.max(highest, h)
    }
    y += highest
  }
  return panels
}

function panelOf({ title, description, kind, unit, queries, redFrom }: PanelPlan) {
  const steps = [{ color: 'green', value: null }, ...(redFrom === undefined ? [] : [{ color: 'red', value: redFrom }])]
  return {
    type: kind === 'stat' ? 'stat' : 'timeseries',
    title,
    description,
    datasource,
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource,
      expr,
      legendFormat: legend,
      ...(kind === 'stat' ? { instant: true } : { range: true }),
    })),
    fieldConfig: { defaults: { unit, thresholds: { mode: 'absolute', steps } }, overrides: [] },
    options: kind === 'stat' ? { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'value' } : { legend: { showLegend: true } },
  }
}
