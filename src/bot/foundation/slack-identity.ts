import type { MessageRef } from '../../domain/request/message-ref.ts'
import type { LinkTo } from '../../domain/request/request.ts'
import type { Identity } from '../../slack/web-api/identity.ts'

/** Holds the bot's identity in Slack, which is unknown until the first call of Slack succeeds. */
export function createSlackIdentity(fetch: () => Promise<Identity>) {
  let current: Identity | undefined

  /** Fetches and keeps the identity. Throws as `fetchIdentity` does. */
  async function reach(): Promise<Identity> {
    current = await fetch()
    return current
  }

  /** Returns the address of a request's card, if it was posted and the workspace is known. */
  const linkTo: LinkTo = ({ origin, cardTs }) => {
    return cardTs === undefined ? undefined : addressOf({ channelId: origin.channelId, ts: cardTs })
  }

  /** Returns the address of a message, if the workspace is known. The address of a reply names its thread, too. */
  function addressOf({ channelId, ts, threadTs }: MessageRef): string | undefined {
    const { workspaceUrl } = current ?? {}
    const thread = threadTs === undefined ? '' : `?thread_ts=${threadTs}&cid=${channelId}`
    return workspaceUrl && `${workspaceUrl}archives/${channelId}/p${ts.replace('.', '')}${thread}`
  }

  /** Returns the address of a person's profile, if the workspace is known. */
  function profileOf(userId: string): string | undefined {
    const { workspaceUrl } = current ?? {}
    return workspaceUrl && `${workspaceUrl}team/${userId}`
  }

  return { reach, fetch, current: () => current, linkTo, addressOf, profileOf }
}
