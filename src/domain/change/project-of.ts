import type { Project } from '../policy/policy.ts'
import type { Change } from './change.ts'

/**
 * Returns the project of a change, which rules depend on. If the items are in several projects, the project counts as unknown, so that no
 * rule for one of the projects decides about the others.
 */
export function projectOf<Input, Facts>({ project, items }: Pick<Change<Input, Facts>, 'project' | 'items'>, facts: Facts): Project {
  const whole = project?.(facts) ?? 'none'
  const ofItems = items?.of(facts).map((item) => items.change.project?.(item.facts) ?? 'none') ?? []
  return ofItems.every((each) => idOf(each) === idOf(whole)) ? whole : 'unknown'
}

function idOf(project: Project): string {
  return typeof project === 'string' ? project : project.id
}
