import type { Request } from '../domain/request.ts'
import type { Identity } from '../slack/web-api/identity.ts'

/** Holds who the bot is in Slack, which it does not know before Slack was reached. */
export function createSlackIdentity(fetch: () => Promise<Identity>) {
  let known: Identity | undefined

  /** Fetches and keeps the identity. Throws as `fetchIdentity` does. */
  async function reach(): Promise<Identity> {
    known = await fetch()
    return known
  }

  /** Returns the address of a request's card, if it was posted and the workspace is known. */
  function linkTo({ origin, cardTs }: Request): string | undefined {
    const { workspaceUrl } = known ?? {}
    return workspaceUrl && cardTs ? `${workspaceUrl}archives/${origin.channelId}/p${cardTs.replace('.', '')}` : undefined
  }

  return { reach, fetch, current: () => known, linkTo }
}
