import { type Json, stringOf } from '../json.ts'
import type { Person, UserGroup } from '../workspace.ts'
import { type Method, required, type Stores } from './method.ts'
import { Refusal } from './refusal.ts'

export function peopleMethods({ directory }: Stores): Record<string, Method> {
  const { team, workspace } = directory

  function toSlackUser(person: Person): Json {
    return {
      id: person.id,
      team_id: person.teamId ?? team.id,
      name: person.handle,
      deleted: person.deleted ?? false,
      color: (person.color ?? '#4a154b').slice(1),
      real_name: person.name,
      tz: 'Europe/Berlin',
      tz_label: 'Central European Time',
      tz_offset: 3600,
      profile: {
        title: person.title ?? '',
        real_name: person.name,
        real_name_normalized: person.name,
        display_name: person.handle,
        display_name_normalized: person.handle,
        team: person.teamId ?? team.id,
      },
      is_admin: false,
      is_owner: false,
      is_primary_owner: false,
      is_restricted: person.isRestricted ?? false,
      is_ultra_restricted: person.isUltraRestricted ?? false,
      is_bot: person.isBot ?? false,
      is_app_user: false,
      ...(person.isStranger ? { is_stranger: true } : {}),
      updated: 1_760_000_000,
    }
  }

  function toSlackGroup(group: UserGroup): Json {
    return {
      id: group.id,
      team_id: team.id,
      is_usergroup: true,
      is_subteam: true,
      name: group.name,
      description: '',
      handle: group.handle,
      is_external: false,
      date_create: 1_760_000_000,
      date_update: 1_760_000_000,
      date_delete: group.disabled ? 1_760_000_000 : 0,
      prefs: { channels: [], groups: [] },
    }
  }

  return {
    'users.info': {
      args: ['user'],
      scopes: ['users:read'],
      run(args) {
        required(args, 'user')
        const person = directory.findPerson(stringOf(args.user))
        if (person === undefined) throw new Refusal('user_not_found')
        return { user: toSlackUser(person) }
      },
    },

    'usergroups.list': {
      scopes: ['usergroups:read'],
      args: [],
      run: () => ({ usergroups: workspace.userGroups.filter((group) => !group.disabled).map(toSlackGroup) }),
    },

    'usergroups.users.list': {
      args: ['usergroup'],
      scopes: ['usergroups:read'],
      run(args) {
        required(args, 'usergroup')
        const group = directory.userGroup(stringOf(args.usergroup))
        if (group === undefined) throw new Refusal('no_such_subteam')
        return { users: group.disabled ? [] : [...group.members] }
      },
    },
  }
}
