import type { Policy } from '../domain/policy/policy.ts'
import type { Environment, Given } from './given.ts'
import { Variables } from './variables.ts'

/** Returns the lines about variables that do not fit together. */
export function linesAcross({ values, reported }: Given): string[] {
  const lines: string[] = []
  const has = (name: string) => values[name] !== undefined || reported.includes(name)
  if (!has('APPROVERS') && !has('POLICY_FILE')) {
    lines.push(
      'APPROVERS is missing: it must be the people who may approve, as user ids (U…, W…) and user group ids (S…), separated by commas (or set POLICY_FILE)',
    )
  }
  if (!has('SLACK_SIGNING_SECRET') && !has('SLACK_APP_TOKEN')) {
    lines.push('SLACK_SIGNING_SECRET is missing: it verifies requests from Slack (or set SLACK_APP_TOKEN to use Socket Mode)')
  }
  // Without it, a process can neither change anything nor derive a key for the signatures.
  if (!has('INFRA_API_KEY') && !(values.ROLE === 'web' && has('INFRA_READ_KEY') && has('STATE_KEY'))) {
    const unless = values.ROLE === 'web' ? ` (or set INFRA_READ_KEY and STATE_KEY, ${ifNoKeyIsMinted})` : ''
    lines.push(`INFRA_API_KEY is missing: it must be a key of the account API, in one word${unless}`)
  }
  if (values.INFRA_READ_KEY !== undefined && values.INFRA_READ_KEY === values.INFRA_API_KEY)
    lines.push('INFRA_READ_KEY must be another key than INFRA_API_KEY, because the account counts the requests of each key')
  if (has('ALERTS_PORT') && !has('ALERTS_TOKEN')) {
    lines.push('ALERTS_TOKEN is missing: with ALERTS_PORT it must be a token of at least 32 characters, which the sender of alerts sends')
  }
  return [...lines, ...linesAboutPorts(values, has)]
}

/** When a process with ROLE=web can do without INFRA_API_KEY. The policy and the kinds of change are known only later. */
export const ifNoKeyIsMinted = 'if the policy allows no change whose button creates a token'

/** The ports of a process must differ. 0 selects any free port. */
function linesAboutPorts(values: Environment, has: (name: string) => boolean): string[] {
  const lines: string[] = []
  const publicPort = Variables.shape.PORT.safeParse(values.PORT).data
  const alertsPort = Variables.shape.ALERTS_PORT.safeParse(values.ALERTS_PORT).data
  const opsPort = Variables.shape.OPS_PORT.safeParse(values.OPS_PORT).data
  if (alertsPort && alertsPort === opsPort) lines.push('ALERTS_PORT must be another port than OPS_PORT')
  if (alertsPort && alertsPort === publicPort && !has('SLACK_APP_TOKEN'))
    lines.push('ALERTS_PORT must be another port than PORT, which is public')
  const sharesIt = publicPort === opsPort
  if (publicPort && sharesIt && !has('SLACK_APP_TOKEN')) lines.push('OPS_PORT must be another port than PORT, which is public')
  return lines
}

/** Warns of alerts that lead to nothing, because one of two settings is missing. */
export function alertWarnings({ alerts, role }: { alerts: object | undefined; role: Variables['ROLE'] }, policy: Policy): string[] {
  const hasEntries = (policy.alerts ?? []).length > 0
  if (alerts && !hasEntries) return ['ALERTS_PORT is set, and POLICY_FILE has no alerts, so no alert leads to a request']
  if (!alerts && hasEntries && role !== 'worker') return ['POLICY_FILE has alerts, and ALERTS_PORT is not set, so none are received']
  return []
}
