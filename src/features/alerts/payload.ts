import { hash } from 'node:crypto'
import { z } from 'zod'
import { type AlertRoute, longestReason } from '../../domain/policy.ts'
import type { SourceAlert } from '../../domain/request.ts'
import { canonicalJson } from '../../domain/signing.ts'
import { cleanText, withoutInvisible } from '../../domain/text.ts'
import { truncate } from '../../slack/text.ts'

/** The most alerts of one delivery. Alertmanager's `max_alerts` limits a group, and 1,000 of them hardly fit into a body. */
export const mostAlerts = 1_000

/** Untrusted texts by name. */
export type Labels = ReadonlyMap<string, string>

/** Leaves out values that are not text: one wrong value must not hide an alert. */
const Texts = z
  .record(z.string(), z.unknown())
  .catch({})
  .transform((all): Labels => new Map(Object.entries(all).filter((each): each is [string, string] => typeof each[1] === 'string')))

/** Redis keeps the address of an alert. No message shows a longer one. */
const longestText = 2_000

const textOrAbsent = z.string().min(1).max(longestText).optional().catch(undefined)

/** 0 if it is not known. Alertmanager and Grafana are written in Go, whose time that is not set is in the year 1. */
const Time = z
  .string()
  .transform((text) => Math.max(0, Date.parse(text) || 0))
  .catch(0)

/** prometheus.io/docs, "webhook_config"; grafana.com/docs, "Configure webhook notifications". */
const WireAlert = z.object({
  status: textOrAbsent,
  labels: Texts,
  annotations: Texts,
  startsAt: Time,
  endsAt: Time,
  fingerprint: textOrAbsent,
  generatorURL: textOrAbsent,
})

/** `version` is not read: Alertmanager sends 4, and Grafana 1. */
const Payload = z.object({
  status: textOrAbsent,
  alerts: z.array(z.unknown()),
  truncatedAlerts: z.number().catch(0),
})

/** One alert of a delivery. All of it is untrusted text. */
export interface Alert {
  /** From its fingerprint, which depends only on the labels. With `startsAt` it identifies one outage. */
  key: string
  isFiring: boolean
  labels: Labels
  annotations: Labels
  link: string | undefined
  /** In ms since 1970. 0: not known. */
  startsAt: number
  /** When it resolved, the same. */
  endsAt: number
}

/** Reads the body of a delivery. Never throws. */
export function readPayload(body: string) {
  const parsed = Payload.safeParse(parseJson(body))
  if (!parsed.success) return { is: 'unreadable' as const }
  const { alerts, truncatedAlerts, status } = parsed.data
  if (alerts.length > mostAlerts) return { is: 'too-many' as const }
  const read = alerts.map((alert) => readAlert(alert, status)).filter((alert) => alert !== undefined)
  return { is: 'read' as const, alerts: read, truncated: Math.max(0, truncatedAlerts), unreadable: alerts.length - read.length }
}

/** Undefined for an alert that is neither firing nor resolved. `ofGroup`: the status of one that has none. */
function readAlert(wire: unknown, ofGroup: string | undefined): Alert | undefined {
  const { success, data } = WireAlert.safeParse(wire)
  const status = data?.status ?? ofGroup
  if (!success || (status !== 'firing' && status !== 'resolved')) return undefined
  const { labels, annotations, fingerprint, startsAt, endsAt, generatorURL } = data
  return {
    // A hash has a length that a key in Redis may have. Without a fingerprint the labels are one, as in Alertmanager.
    key: hash('sha256', fingerprint ?? canonicalJson(Object.fromEntries(labels))).slice(0, 32),
    isFiring: status === 'firing',
    labels,
    annotations,
    link: generatorURL,
    startsAt,
    endsAt,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function routeFor(routes: AlertRoute[], labels: Labels): AlertRoute | undefined {
  return routes.find(({ match }) => [...match].every(([label, value]) => labels.get(label) === value))
}

/** `web-1:9100` names `web-1`: Prometheus adds the port of what it scrapes. */
export function nameIn(route: AlertRoute, labels: Labels): string | undefined {
  const name = (labels.get(route.server) ?? '').trim().replace(/:\d{1,5}$/, '')
  return name === '' ? undefined : name
}

const longestAlertName = 100

/** Names an alert for people. Alertmanager and Grafana both put the name into the label `alertname`. */
export function sourceOf({ labels, link, startsAt }: Alert): SourceAlert {
  const name = shownText(labels.get('alertname'))
  return {
    name: truncate(name === '' ? 'Unnamed' : name, longestAlertName, 'plain'),
    link,
    ...(startsAt > 0 && { startsAt }),
  }
}

/** Returns the reason of a request: the summary of the alert, or its name. It is never empty, because a rule may require a reason. */
export function reasonOf(alert: Alert, server: string | undefined): string {
  const { annotations } = alert
  const said = ['summary', 'description', 'message'].map((name) => shownText(annotations.get(name))).find((text) => text !== '')
  const { name } = sourceOf(alert)
  return truncate(said ?? (server === undefined ? name : `${name} on ${server}`), longestReason, 'plain')
}

function shownText(text = ''): string {
  return cleanText(withoutInvisible(text), { oneLine: true })
}
