import type { Slack } from '../sandbox/slack/slack.ts'

/** Ten people with different rights, by the names that the model and its failures use. */
export const ids = {
  ada: 'U0ADA00001',
  olaf: 'U0OLA00001',
  ben: 'U0BEN00001',
  chiara: 'U0CHI00001',
  finn: 'U0FIN00001',
  gita: 'U0GIT00001',
  hugo: 'U0HUG00001',
  jana: 'U0JAN00001',
  dov: 'U0DOV00001',
  ines: 'U0INE00001',
} as const
export type Name = keyof typeof ids
export const names = Object.keys(ids) as Name[]

export const guest: Name = 'dov'
export const stranger: Name = 'ines'

export type Group = 'oncall' | 'security'
export const groupIds: Record<Group, string> = { oncall: 'S0ONCALL01', security: 'S0SECURE01' }
/** `joined`: who joined a group during the run, and may be refused by an older list of its members. `left`: who left one, and may be shown a form by it. */
export type Members = Record<Group | 'joined' | 'left', Name[]>

export const members: Members = { oncall: ['ben', 'chiara', 'finn', 'gita'], security: ['chiara', 'gita'], joined: [], left: [] }
/** At least this many stay in a group, so that there are always enough approvers. */
export const fewest: Record<Group, number> = { oncall: 3, security: 2 }
export const movers: Name[] = ['ben', 'chiara', 'finn', 'gita', 'hugo']

export const moveRequesters: Name[] = ['ada', 'olaf', 'ben', 'chiara']

/** Reminders and expiry are seldom due by themselves within a run. Below two minutes the bots would tick all the time. */
export const policy = `
rules:
  - name: addresses
    changes: ip.move
    request: [${moveRequesters.map((name) => ids[name]).join(', ')}]
    approve: { any_of: [${groupIds.oncall}], approvals: 2 }
    self_approval: break-glass
    expires: 110s
  - name: names
    changes: vm.rename
    approve: { all_of: [${groupIds.oncall}, ${groupIds.security}] }
    expires: 110s
`

export function settle({ workspace, setUserGroup }: Slack): void {
  const add = (name: Name, more: object = {}) => {
    const handle = name
    workspace.people.push({ id: ids[name], name: `${name.charAt(0).toUpperCase()}${name.slice(1)} of Nimbus`, handle, ...more })
  }
  for (const name of ['olaf', 'finn', 'gita', 'hugo', 'jana'] as const) add(name)
  add(stranger, { isStranger: true, teamId: 'T0PARTNER1' })
  for (const channel of workspace.channels) channel.members = [...new Set([...channel.members, ...Object.values(ids)])]
  workspace.userGroups.push({ id: groupIds.security, handle: 'security', name: 'Security', members: [] })
  for (const group of ['oncall', 'security'] as const) setUserGroup(groupIds[group], { members: members[group].map((name) => ids[name]) })
}

export function nameOf(id: string | undefined): Name | undefined {
  return names.find((name) => ids[name] === id)
}
