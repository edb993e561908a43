import type { RepeatedLines } from '../../ops/log/repeated-lines.ts'
import type { ChannelMembership } from '../../slack/web-api/setup-probe.ts'

interface OpsChannelParts {
  /** Undefined if OPS_CHANNEL is not set. */
  channelId: string | undefined
  membership: (channelId: string) => Promise<ChannelMembership>
  lines: Pick<RepeatedLines, 'write'>
}

const problems: Record<ChannelMembership['is'], string | undefined> = {
  member: undefined,
  absent: 'Lockkeeper is not in the channel, or there is no such channel',
  archived: 'the channel is archived',
  // Slack did not say. It may take the notices.
  unreadable: undefined,
}

/**
 * Creates the check whether notices to the operators can be posted. It logs if they cannot, because nobody would notice before one is
 * missing. Undefined if there is no channel.
 */
export function createOpsChannel({ channelId, membership, lines }: OpsChannelParts) {
  if (channelId === undefined) return undefined
  const id = channelId

  /** Never throws. */
  async function check(): Promise<ChannelMembership> {
    const found = await membership(id)
    const problem = problems[found.is]
    if (problem !== undefined) {
      const text = `Notices can't be posted in OPS_CHANNEL (${id}): ${problem}`
      lines.write({ fields: { code: 'operators-unreachable', problem }, text, about: problem })
    }
    return found
  }

  return { id, check }
}
