import type { Server } from '../../domain/account/server.ts'
import { type Candidate, candidatesOf, placeOf } from './picker.ts'

/** Shows a server as an option of a picker. */
export function serverCandidate({ id, hostname, label, primaryIpv4, project, site }: Server): Candidate {
  const place = placeOf(project, site?.slug ?? site?.name)
  return {
    value: id,
    text: `${hostname ?? id}${place ? ` (${place})` : ''}`,
    description: [label, primaryIpv4, hostname === undefined ? undefined : id].filter((part) => part !== undefined).join('  ·  '),
    terms: [project?.slug, site?.name],
  }
}

/** Shows all servers of a list, and keeps the result as long as the list. */
export const serverCandidates = candidatesOf(serverCandidate)
