import { UserError } from '../domain/errors.ts'

/** Slashes, backslashes and control characters. */
const forbidden = /[/\\\p{Cc}]/u

/**
 * `/elastic_ips/eip_1`. Ids are opaque, and they come from people: one that is `..`, or that holds a slash which something on the way
 * decodes before it routes, would reach another operation with our key. Such ids do not exist, so they are refused, not encoded.
 */
export function pathTo(collection: `/${string}`, id: string): string {
  if (id === '' || id === '.' || id === '..' || forbidden.test(id) || !id.isWellFormed()) {
    throw new UserError('That cannot be an id: ids are not empty and hold no slashes, backslashes or control characters.')
  }
  return `${collection}/${encodeURIComponent(id)}`
}

/** `/elastic_ips?filter%5Bstatus%5D=moving`; without the members that are undefined. */
export function withQuery(path: string, query: Record<string, string | number | undefined>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) params.append(name, String(value))
  }
  return params.size === 0 ? path : `${path}?${params}`
}
