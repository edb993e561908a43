import type { PolicyRule } from '../../domain/policy/policy.ts'

/** A project and a channel. An empty text is any project or channel that no rule lists. */
export interface Place {
  channelId: string
  project: { id: string; name: string }
}

/** Returns the projects and channels between which these rules can differ. Places that no rule lists come first. */
export function placesThatDiffer(rules: PolicyRule[]): Place[] {
  const channels = distinct(rules.map((rule) => rule.channels ?? []))
  const ids = distinct(rules.map((rule) => rule.projects?.ids ?? []))
  const names = distinct(rules.map((rule) => rule.projects?.names ?? []))
  return channels.flatMap((channelId) => ids.flatMap((id) => names.map((name) => ({ channelId, project: { id, name } }))))
}

/** Returns one item of those that the same lists have, because no rule treats the others differently. */
function distinct(lists: string[][]): string[] {
  const listedBy = new Map<string, number[]>()
  for (const [index, list] of lists.entries()) {
    for (const item of list) listedBy.set(item, [...(listedBy.get(item) ?? []), index])
  }
  const first = new Map<string, string>()
  for (const [item, by] of listedBy) if (!first.has(by.join())) first.set(by.join(), item)
  return ['', ...first.values()]
}
