/** Leads alerts with certain labels to a request to evacuate the server that one of the labels names. */
export interface AlertRoute {
  /** Shown to people and written to the audit. */
  name: string
  /** The labels that an alert must have, with exactly these values. */
  match: ReadonlyMap<string, string>
  /** The label that names the server. */
  server: string
  /** The hostname or id of the target: one for every site, or one for each site, by the slugs of the sites in lower case. */
  to: string | ReadonlyMap<string, string>
  /** Where the request is posted. */
  channelId: string
}

/** The labels of an alert. They are untrusted. */
export type Labels = Readonly<Record<string, string>>

/** Finds the first route whose labels an alert has. */
export function routeFor(routes: AlertRoute[], labels: Labels): AlertRoute | undefined {
  return routes.find(({ match }) => [...match].every(([label, value]) => labelOf(labels, label) === value))
}

/** Returns the name of the server that an alert is about, as written in the alert. */
export function serverNamed({ server }: AlertRoute, labels: Labels): string | undefined {
  return labelOf(labels, server)
}

/** Returns the hostname or id of the server that takes over in a site. Slugs are compared without regard to case, as everywhere. */
export function targetIn({ to }: AlertRoute, site: { slug?: string | undefined } | undefined): string | undefined {
  if (typeof to === 'string') return to
  return site?.slug === undefined ? undefined : to.get(site.slug.toLowerCase())
}

/** Ignores members that every object inherits, such as `constructor`. */
function labelOf(labels: Labels, label: string): string | undefined {
  return Object.hasOwn(labels, label) ? labels[label] : undefined
}
