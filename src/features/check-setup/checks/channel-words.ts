import { channelMention, code, mrkdwn, userGroupMention } from '../../../slack/text/text.ts'
import { listOf } from './phrases.ts'

export const channels = {
  member: (ids: string[]) => mrkdwn`I am in ${listOf(ids.map(channelMention))}.`,
  absent: (ids: string[]) => mrkdwn`I am not in ${listOf(ids.map(channelMention))}, so I can post nothing there.`,
  fixAbsent: mrkdwn`Type */invite @Lockkeeper* there.`,
  archived: (ids: string[]) => mrkdwn`${listOf(ids.map(channelMention))} is archived, so I can post nothing there.`,
  fixArchived: mrkdwn`Bring it back, or name another channel in the configuration.`,
  unknown: (ids: string[], why: string) =>
    mrkdwn`whether I am in ${listOf(ids.map(channelMention))} could not be found out: Slack did not tell (${why}).`,
}

export const groups = {
  members: (group: { id: string; members: number }[]) =>
    mrkdwn`${listOf(group.map(({ id, members }) => mrkdwn`${userGroupMention(id)} has ${members === 1 ? 'one member' : `${members} members`}`))}.`,
  unreadable: (id: string, why: string, decides: boolean) =>
    mrkdwn`${userGroupMention(id)} (${code(id)}) cannot be read (${why}), so ${decides ? 'everybody who counts on it is denied' : 'a card that mentions it may call nobody'}.`,
  unknown: (id: string, why: string) => mrkdwn`whether ${userGroupMention(id)} (${code(id)}) can be read could not be found out: ${why}.`,
  fixUnreadable: (why: string) => {
    if (why === 'missing_scope') return mrkdwn`Give the app the scope ${code('usergroups:read')}, as the line on its scopes says.`
    if (why === 'plan_upgrade_required') return mrkdwn`The plan of this workspace has no user groups: name people in the configuration.`
    return mrkdwn`See among Slack's user groups that it is there and not disabled, and that its id in the configuration is right.`
  },
  empty: (id: string, decides: boolean) =>
    mrkdwn`${userGroupMention(id)} (${code(id)}) is empty or disabled, so ${decides ? 'nobody may ask or approve by it' : 'a card that mentions it calls nobody'}.`,
  fixEmpty: mrkdwn`Put people into it, turn it on again, or name others in the configuration.`,
}
