import type { Wire } from './generate.ts'

/**
 * The objects of a move as the account API shows them. This file decides what a person can conclude from them. It follows the interface
 * specification ("Elastic IP", "States and transitions") and the ids in the vendor's documents, and shares no code with Lockkeeper's own
 * check.
 */
export interface MoveObjects {
  elasticIp: Wire
  target: Wire
  /** The server that the Elastic IP is assigned to, if it can be read. */
  assigned: Wire | undefined
}

/** A reason that prevents a move, and the pairs of values that show it. A refusal names one of these pairs. */
export interface Reason {
  is: 'bgp' | 'not active' | 'on it already' | 'another project' | 'another site'
  values: [string, string][]
}

/** Returns the text at this place. Returns undefined for an empty text. */
export function shown(wire: Wire | undefined, ...path: string[]): string | undefined {
  let value: unknown = wire
  for (const member of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, member) : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function visibleReasons(objects: MoveObjects): Reason[] {
  return [...bgp(objects), ...notActive(objects), ...onItAlready(objects), ...anotherProject(objects), ...anotherSite(objects)]
}

/** Returns the members that the objects do not decide. */
export function unknownMembersOf(objects: MoveObjects): ('status' | 'server' | 'project' | 'site')[] {
  const { elasticIp } = objects
  const project = projectsOf(objects)
  const site = sitesOf(objects)
  return [
    ...(statusOf(elasticIp) === undefined ? (['status'] as const) : []),
    ...(serverOf(elasticIp) === undefined ? (['server'] as const) : []),
    ...(project.agree || project.differ ? [] : (['project'] as const)),
    ...(site.agree || site.differ.length > 0 ? [] : (['site'] as const)),
  ]
}

/** Returns the status. Returns undefined for `unknown`, which the account API uses for servers without a known status. */
function statusOf(elasticIp: Wire): string | undefined {
  const status = shown(elasticIp, 'attributes', 'status')
  return status === 'unknown' ? undefined : status
}

function serverOf(elasticIp: Wire): string | undefined {
  return shown(elasticIp, 'attributes', 'server', 'id')
}

function addressOf(elasticIp: Wire): string {
  return shown(elasticIp, 'attributes', 'address') ?? String(elasticIp.id)
}

/** Several servers can announce such an address, whatever server it shows. */
export function isBgpOnWire(elasticIp: Wire): boolean {
  return String(elasticIp.id).startsWith('ueip_') || shown(elasticIp, 'attributes', 'mode')?.toLowerCase() === 'bgp'
}

function bgp({ elasticIp }: MoveObjects): Reason[] {
  return isBgpOnWire(elasticIp) ? [{ is: 'bgp', values: [[addressOf(elasticIp), 'BGP']] }] : []
}

function notActive({ elasticIp }: MoveObjects): Reason[] {
  const status = statusOf(elasticIp)
  return status === undefined || status === 'active' ? [] : [{ is: 'not active', values: [[addressOf(elasticIp), status]] }]
}

function onItAlready({ elasticIp, target }: MoveObjects): Reason[] {
  if (serverOf(elasticIp) !== target.id) return []
  const name = shown(target, 'attributes', 'hostname') ?? String(target.id)
  return [{ is: 'on it already', values: [[addressOf(elasticIp), name]] }]
}

function projectsOf({ elasticIp, target }: MoveObjects) {
  const [a, b] = [elasticIp, target].map((wire) => (member: string) => shown(wire, 'attributes', 'project', member)) as [Show, Show]
  return compareIds(a, b)
}

type Show = (member: string) => string | undefined

/** Compares two objects of one kind. Equal ids agree. Different ids differ, unless the slugs are equal. */
function compareIds(a: Show, b: Show): { agree: boolean; differ: boolean } {
  const ids = [a('id'), b('id')]
  if (ids.includes(undefined)) return { agree: false, differ: false }
  return { agree: ids[0] === ids[1], differ: ids[0] !== ids[1] && slugs(a, b) !== 'equal' }
}

function slugs(a: Show, b: Show): 'equal' | 'different' | 'not shown' {
  const [first, second] = [a('slug')?.toLowerCase(), b('slug')?.toLowerCase()]
  if (first === undefined || second === undefined) return 'not shown'
  return first === second ? 'equal' : 'different'
}

/** Returns the values of the members that both show and that differ. */
function pairs(a: Show, b: Show, members: string[]): [string, string][] {
  return members.flatMap((member) => {
    const [first, second] = [a(member), b(member)]
    return first !== undefined && second !== undefined && fold(member, first) !== fold(member, second) ? [[first, second]] : []
  })
}

/** Ignores the case, except in ids. */
function fold(member: string, value: string): string {
  return member === 'id' ? value : value.toLowerCase()
}

function anotherProject(objects: MoveObjects): Reason[] {
  const { elasticIp, target } = objects
  if (!projectsOf(objects).differ) return []
  const show = (wire: Wire) => (member: string) => shown(wire, 'attributes', 'project', member)
  return [{ is: 'another project', values: pairs(show(elasticIp), show(target), ['name', 'slug', 'id']) }]
}

/**
 * Compares the sites. Two servers are compared by ids, or by slugs if an id is missing. The target and the address are compared by slugs
 * alone, because one site has different ids and names on them. One agreement is enough.
 */
function sitesOf({ elasticIp, target, assigned }: MoveObjects): { agree: boolean; differ: [string, string][] } {
  const there: Show = (member) => shown(target, 'attributes', 'region', 'site', member)
  const ofServer: Show = (member) => shown(assigned, 'attributes', 'region', 'site', member)
  const ofAddress: Show = (member) => shown(elasticIp, 'attributes', 'region', 'location', member)
  const bothIds = there('id') !== undefined && ofServer('id') !== undefined
  const servers = bothIds
    ? compareIds(ofServer, there)
    : { agree: slugs(ofServer, there) === 'equal', differ: slugs(ofServer, there) === 'different' }
  const address = slugs(ofAddress, there)
  return {
    agree: servers.agree || address === 'equal',
    differ: [
      ...(servers.differ ? pairs(ofServer, there, ['slug', 'id']) : []),
      ...(address === 'different' ? pairs(ofAddress, there, ['slug']) : []),
    ],
  }
}

function anotherSite(objects: MoveObjects): Reason[] {
  const { agree, differ } = sitesOf(objects)
  return agree || differ.length === 0 ? [] : [{ is: 'another site', values: differ }]
}

/** Whether a sentence contains this value as whole words. */
export function names(sentence: string, value: string): boolean {
  for (let at = sentence.indexOf(value); at >= 0; at = sentence.indexOf(value, at + 1)) {
    const [before, after] = [sentence[at - 1] ?? ' ', sentence[at + value.length] ?? ' ']
    if (!isInner(before, value[0]) && !isInner(after, value.at(-1))) return true
  }
  return false
}

/** Whether both characters belong to one word. */
function isInner(beside: string, edge: string | undefined): boolean {
  const word = /[\p{L}\p{N}_-]/u
  return word.test(beside) && word.test(edge ?? '')
}
