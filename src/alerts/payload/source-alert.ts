import { longestReason } from '../../domain/policy/reason.ts'
import type { SourceAlert } from '../../domain/request/request.ts'
import { withoutInvisible } from '../../domain/text/invisible.ts'
import { truncate } from '../../slack/text/cut-text.ts'
import { cleanText } from '../../slack/text/text.ts'
import type { Alert } from './payload.ts'

const longestName = 100

/** Names an alert for people. Alertmanager and Grafana both put the name into the label `alertname`. */
export function sourceOf({ labels, link }: Alert): SourceAlert {
  const name = shownText(own(labels, 'alertname'))
  return { name: truncate(name === '' ? 'without a name' : name, longestName, 'plain'), ...(link === undefined ? {} : { link }) }
}

/** Returns the reason of a request: the summary of the alert, or its name. It is never empty, because a rule may require a reason. */
export function reasonOf(alert: Alert): string {
  const { annotations } = alert
  const said = ['summary', 'description', 'message'].map((name) => shownText(own(annotations, name))).find((text) => text !== '')
  return truncate(said ?? `Alert ${sourceOf(alert).name}`, longestReason, 'plain')
}

/** Ignores members that every object inherits. */
function own(texts: Alert['labels'], name: string): string {
  return (Object.hasOwn(texts, name) ? texts[name] : undefined) ?? ''
}

function shownText(text: string): string {
  return cleanText(withoutInvisible(text), { oneLine: true })
}
