import { channelMention, code, mrkdwn, userGroupMention } from '../../../slack/text/text.ts'
import { listOf } from './phrases.ts'

export const channels = {
  member: (ids: string[]) => mrkdwn`Lockkeeper is in ${listOf(ids.map(channelMention))}.`,
  absent: (ids: string[]) => mrkdwn`Lockkeeper isn't in ${listOf(ids.map(channelMention))}, so it can't post there.`,
  fixAbsent: mrkdwn`Run ${code('/invite @Lockkeeper')} there.`,
  archived: (ids: string[]) =>
    mrkdwn`${listOf(ids.map(channelMention))} ${ids.length === 1 ? 'is' : 'are'} archived, so Lockkeeper can't post there.`,
  fixArchived: mrkdwn`Unarchive it, or set another channel in the configuration.`,
  unknown: (ids: string[], why: string) => mrkdwn`Couldn't check whether Lockkeeper is in ${listOf(ids.map(channelMention))} (${why}).`,
}

export const notices = {
  member: (id: string) => mrkdwn`Notices to the people who run Lockkeeper can be posted in ${channelMention(id)}.`,
  absent: (id: string) => mrkdwn`Lockkeeper isn't in ${channelMention(id)}, so nobody gets notices about problems.`,
  fixAbsent: mrkdwn`Run ${code('/invite @Lockkeeper')} there, or correct ${code('OPS_CHANNEL')}.`,
  archived: (id: string) => mrkdwn`${channelMention(id)} is archived, so nobody gets notices about problems.`,
  fixArchived: mrkdwn`Unarchive it, or set another channel in ${code('OPS_CHANNEL')}.`,
  unknown: (id: string, why: string) => mrkdwn`Couldn't check whether Lockkeeper is in ${channelMention(id)} (${why}).`,
}

export const groups = {
  members: (group: { id: string; members: number }[]) =>
    mrkdwn`${listOf(group.map(({ id, members }) => mrkdwn`${userGroupMention(id)} has ${members === 1 ? 'one member' : `${members} members`}`))}.`,
  unreadable: (id: string, why: string, decides: boolean) =>
    mrkdwn`${userGroupMention(id)} (${code(id)}) can't be read (${why}), so ${decides ? 'its members get no rights from it' : 'mentioning it may notify nobody'}.`,
  unknown: (id: string, why: string) => mrkdwn`Couldn't check whether ${userGroupMention(id)} (${code(id)}) can be read: ${why}.`,
  fixUnreadable: (why: string) => {
    if (why === 'missing_scope') return mrkdwn`Add the scope ${code('usergroups:read')}. See *Slack scopes* in this list.`
    if (why === 'plan_upgrade_required') return mrkdwn`This workspace's plan has no user groups. Name people in the configuration.`
    return mrkdwn`Check in Slack that the user group exists and is enabled. Check its id in the configuration.`
  },
  empty: (id: string, decides: boolean) =>
    mrkdwn`${userGroupMention(id)} (${code(id)}) is empty or disabled, so ${decides ? 'it gives nobody rights' : 'mentioning it notifies nobody'}.`,
  fixEmpty: mrkdwn`Add members to it, enable it, or set others in the configuration.`,
}
