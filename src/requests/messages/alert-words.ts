import type { SourceAlert } from '../../domain/request/request.ts'
import { outsideLink } from '../../slack/text/outside-link.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** Names an alert, and links it: `Alert NodeDown, open it (prometheus:9090)`. */
export function alertWords({ name, link }: SourceAlert): Mrkdwn {
  const linked = outsideLink(link, 'open it')
  return linked ? mrkdwn`Alert ${code(name)}, ${linked}` : mrkdwn`Alert ${code(name)}`
}
