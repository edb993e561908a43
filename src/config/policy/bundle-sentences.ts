import type { ChangeKind } from '../../domain/policy/change-kind.ts'
import type { PolicyRule } from '../../domain/policy/policy.ts'
import { type EasierTerms, easierTerms } from '../../domain/policy/strictness.ts'
import { writeDuration } from '../../domain/text/duration.ts'
import { quote } from '../notation.ts'
import type { Place } from './places.ts'

interface Easier {
  kind: ChangeKind
  part: ChangeKind
  member: keyof PolicyRule
  rule: PolicyRule
  /** The stricter rule, which decides about a part in this place. */
  than: PolicyRule
  place: Place
}

/** Says in which way a bundle would be easier than a part, and what to do. Follows the name of the key. */
export function easierSentence({ kind, part, member, rule, than, place }: Easier): string {
  const name = quote(than.name, 60)
  if (member === 'channels')
    return `must not let people request ${kind} where nobody can request ${part}${where(place)}: add the channel to ${name}, or name only its channels here`
  return `must not be easier for ${kind} than for ${part}, which ${name} decides${where(place)}: ${whatToDo(member, rule, than)}`
}

function whatToDo(member: keyof PolicyRule, rule: PolicyRule, than: PolicyRule): string {
  if (member === 'approve') return termsToDo(rule, than)
  if (member === 'request') return 'name only people and groups that may request there'
  if (member === 'breakGlass') return 'write never'
  if (member === 'needsReason') return 'write required'
  if (member === 'confirm') return 'write true'
  return `write ${writeDuration(than.expiresMs)} or less`
}

function termsToDo({ approve }: PolicyRule, than: PolicyRule): string {
  if (!approve || !than.approve) return 'name who approves'
  return easierTerms(approve, than.approve).map(termToDo).join(', and ')
}

function termToDo(easier: EasierTerms): string {
  if (easier.is === 'fewer') return `require at least ${easier.needed} approvals`
  if (easier.is === 'not-all') return `add ${easier.missing.join(' and ')} to all_of`
  return `remove ${easier.ids.join(' and ')}, who may not approve there`
}

/** Says that a bundle is denied in a place where its parts can be requested. */
export function uncoveredSentence({ kind, part, rule, place }: Pick<Easier, 'kind' | 'part' | 'rule' | 'place'>): string {
  const there = where(place) || ' in other places'
  return `${quote(rule.name, 60)} names ${kind}, so only rules that name it decide it. No such rule covers it${there}, where ${part} can be requested`
}

function where({ channelId, project: { id, name } }: Place): string {
  const parts = [id && `project ${quote(id, 100)}`, name && `project {name: ${quote(name, 100)}}`, channelId && `channel ${channelId}`]
  const known = parts.filter(Boolean)
  return known.length > 0 ? ` in ${known.join(' and ')}` : ''
}
