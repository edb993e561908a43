import { isUnavailable, type SetupFacts } from '../facts.ts'
import * as say from './channel-words.ts'
import { type CheckResult, ok, subjects, unknown, wrong } from './result.ts'

/** Puts channels with the same result into one line, because a policy may name many. */
export function channels({ channels: all }: SetupFacts): CheckResult[] {
  const what = subjects.channels
  const alike = new Map<string, CheckResult>()
  for (const { membership } of all) {
    const key = JSON.stringify(membership)
    if (alike.has(key)) continue
    const ids = all.filter((other) => JSON.stringify(other.membership) === key).map(({ id }) => id)
    if (isUnavailable(membership)) alike.set(key, unknown(what, say.channels.unknown(ids, membership.unavailable)))
    else if (membership.is === 'unreadable') alike.set(key, unknown(what, say.channels.unknown(ids, membership.why)))
    else if (membership.is === 'absent') alike.set(key, wrong(what, say.channels.absent(ids), say.channels.fixAbsent))
    else if (membership.is === 'archived') alike.set(key, wrong(what, say.channels.archived(ids), say.channels.fixArchived))
    else alike.set(key, ok(what, say.channels.member(ids)))
  }
  return [...alike.values()]
}

/** Notices to the operators have a separate line, because nobody sees that they are missing. */
export function notices({ opsChannel }: SetupFacts): CheckResult[] {
  if (!opsChannel) return []
  const what = subjects.notices
  const { id, membership } = opsChannel
  if (isUnavailable(membership)) return [unknown(what, say.notices.unknown(id, membership.unavailable))]
  switch (membership.is) {
    case 'unreadable':
      return [unknown(what, say.notices.unknown(id, membership.why))]
    case 'absent':
      return [wrong(what, say.notices.absent(id), say.notices.fixAbsent)]
    case 'archived':
      return [wrong(what, say.notices.archived(id), say.notices.fixArchived)]
    case 'member':
      return [ok(what, say.notices.member(id))]
  }
}

export function groups({ groups: all }: SetupFacts): CheckResult[] {
  const what = subjects.groups
  const filled: { id: string; members: number }[] = []
  const others: CheckResult[] = []
  for (const { id, decides, reading } of all) {
    if (isUnavailable(reading)) {
      others.push(unknown(what, say.groups.unknown(id, reading.unavailable)))
    } else if (reading.is === 'unreadable') {
      others.push(wrong(what, say.groups.unreadable(id, reading.why, decides), say.groups.fixUnreadable(reading.why)))
    } else if (reading.members === 0) {
      others.push(wrong(what, say.groups.empty(id, decides), say.groups.fixEmpty))
    } else {
      filled.push({ id, members: reading.members })
    }
  }
  return [...(filled.length > 0 ? [ok(what, say.groups.members(filled))] : []), ...others]
}
