import type { AlertRoute, Labels } from '../../domain/policy/alert-route.ts'

/**
 * Grafana fires these with the labels of a rule that has no data, or that it can't evaluate (grafana.com/docs, "No Data and Error states"). When
 * Prometheus is away, all rules fire them at once.
 */
const names = { DatasourceNoData: 'no-data', DatasourceError: 'error' } as const

export interface Unevaluated {
  is: 'unevaluated'
  why: (typeof names)[keyof typeof names]
  /** The name of the rule. */
  rule: string
}

/**
 * Says that an alert is about a rule of Grafana, and not about the server that its labels may name. Undefined for every other alert, and if the
 * entry of the policy names this alert.
 */
export function unevaluatedRule({ match }: AlertRoute, labels: Labels): Unevaluated | undefined {
  const { alertname = '', rulename } = labels
  if (rulename === undefined || !isName(alertname) || match.get('alertname') === alertname) return undefined
  return { is: 'unevaluated', why: names[alertname], rule: rulename }
}

function isName(name: string): name is keyof typeof names {
  return Object.hasOwn(names, name)
}
