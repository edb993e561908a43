/** A site as an Elastic IP (`region.location`) or a server (`region.site`) shows it. */
export interface Site {
  id: string | undefined
  name: string | undefined
  /** Such as `ASH`. The only member that is the same on every kind of object. */
  slug: string | undefined
}

/** A project. Every kind of object shows the same id for it. */
export interface ProjectRef {
  id: string
  name?: string | undefined
  slug?: string | undefined
}

/** The sites that decide whether an Elastic IP can move to a server. */
interface SitesOfMove {
  /** The Elastic IP's own site. */
  location: Site | undefined
  /** The site of the server that the Elastic IP is assigned to. */
  assigned: Site | undefined
  target: Site | undefined
}

/** Compares two projects. Returns undefined if one is unknown, or if the ids differ although the slugs are equal. */
export function sameProject(a: ProjectRef | undefined, b: ProjectRef | undefined): boolean | undefined {
  if (!a || !b) return undefined
  if (a.id === b.id) return true
  return sameSlug(a, b) ? undefined : false
}

/**
 * Whether the target of a move is in the site of the server that the Elastic IP is assigned to (interface specification, "States and
 * transitions"). Returns undefined if nothing can be compared.
 *
 * The vendor's documents show one site as `site_sao` on an Elastic IP and as `loc_87vRENkgNdPyk` on a server, with different names. So ids
 * are compared between servers only, slugs between any two objects, and names never.
 */
export function sameSite({ location, assigned, target }: SitesOfMove): boolean | undefined {
  if (sameSlug(location, target)) return true
  const asServers = sameSiteOfServers(assigned, target)
  return asServers ?? sameSlug(location, target)
}

function sameSiteOfServers(a: Site | undefined, b: Site | undefined): boolean | undefined {
  if (a?.id === undefined || b?.id === undefined) return sameSlug(a, b)
  if (a.id === b.id) return true
  return sameSlug(a, b) ? undefined : false
}

/**
 * Returns labels for two things that differ: the first of these members that both show and that differs. If no member differs, as for two
 * projects with the same name, the labels contain the ids.
 */
export function distinctLabels(a: Labelled, b: Labelled, by: readonly ('name' | 'slug')[]): [string, string] {
  for (const member of by) {
    const [first, second] = [a[member], b[member]]
    if (first && second && first.toLowerCase() !== second.toLowerCase()) return [first, second]
  }
  return [withId(a), withId(b)]
}

interface Labelled {
  id?: string | undefined
  name?: string | undefined
  slug?: string | undefined
}

function withId({ id = 'unknown', name, slug }: Labelled): string {
  const label = name || slug
  return label && label !== id ? `${label} (${id})` : id
}

export type Slugged = { slug?: string | undefined } | undefined

function sameSlug(a: Slugged, b: Slugged): boolean | undefined {
  if (!a?.slug || !b?.slug) return undefined
  return a.slug.toLowerCase() === b.slug.toLowerCase()
}

export function projectName({ name, slug, id }: ProjectRef): string {
  return name ?? slug ?? id
}
