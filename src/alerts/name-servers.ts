import { notice } from '../slack/blocks/notice.ts'
import type { Messenger } from '../slack/web-api/messenger.ts'
import { stormWords } from './messages/thread-words.ts'
import { TryLater } from './outcome.ts'
import type { StormServerList } from './storm-servers.ts'

/** How often another process adds servers during an update, before that process is left to show them. */
const mostRounds = 5

export interface NameServersParts {
  messenger: Pick<Messenger, 'update'>
  stormServers: StormServerList
  /** The slash command, for what people can do by hand. */
  command: string
}

/**
 * Creates the function that names servers in the message of a storm. It is safe to repeat. Throws TryLater if Slack gives no answer; the alerts are not
 * settled yet then, so the sender repeats them.
 */
export function createNameServers({ messenger, stormServers, command }: NameServersParts) {
  /** `shown`: what the message says, if that is known. `again`: an earlier attempt may have added the names, and died before it showed them. */
  return async function nameServers(
    where: { channelId: string; ts: string; key: string },
    names: string[],
    { shown, again }: { shown: string | undefined; again: boolean },
  ): Promise<void> {
    let says = shown
    // Another process may add servers meanwhile, and this update may be the later one. So the list is read again after each update.
    for (let round = 0; round < mostRounds; round += 1) {
      const servers = await stormServers.add(where.channelId, names)
      if (!servers) return
      const isKnown = says === undefined && servers.added === 0 && !again
      const words = stormWords(command, servers)
      if (isKnown || words.text === says) return
      const updated = await messenger.update(where, notice(words))
      if (updated.is === 'unknown' || updated.is === 'rate-limited') throw new TryLater('Slack did not answer')
      // Somebody may have deleted the message. The thread has the alerts.
      if (updated.is === 'refused') return
      says = words.text
    }
  }
}
