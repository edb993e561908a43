import type { LinkTo } from '../../domain/request.ts'
import type { Identity } from '../../slack/web-api/identity.ts'

/** Holds the bot's identity in Slack, which is unknown until the first call of Slack succeeds. */
export function createSlackIdentity(fetch: () => Promise<Identity>) {
  let current: Identity | undefined

  /** Fetches and keeps the identity. Throws as `fetchIdentity` does. */
  async function reach(): Promise<Identity> {
    current = await fetch()
    return current
  }

  const linkTo: LinkTo = ({ origin, cardTs }) => {
    const { workspaceUrl } = current ?? {}
    return workspaceUrl && cardTs ? `${workspaceUrl}archives/${origin.channelId}/p${cardTs.replace('.', '')}` : undefined
  }

  return { reach, fetch, current: () => current, linkTo }
}
