import { z } from 'zod'
import { readsOfMachine } from '../../account/budget.ts'
import type { ElasticIp, Plan, Server, VirtualMachine } from '../../account/objects.ts'
import { nothingIfAbsent } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import { AccountLimitError } from '../../domain/errors.ts'
import type { List } from '../../domain/list.ts'
import { withinOr } from '../../domain/within.ts'
import { seenBy } from '../../kit/seen.ts'
import type { Thing } from '../../kit/thing.ts'
import { elasticIps, servers, virtualMachines } from '../../kit/things.ts'
import { Refusal } from '../../slack/errors.ts'
import { mrkdwn } from '../../slack/text.ts'
import { dataNote, type Operation } from './operations.ts'

export function listOperations(app: App): Operation[] {
  return [
    list<ElasticIp>(app, {
      ...{ path: 'elastic-ips', many: 'Elastic IPs', item: ListedElasticIp, all: ({ lists }) => lists.elasticIps() },
      show: ({ id, address, status, server, project, site }) => ({ id, address, status, server, project, site }),
      exact: ofId(elasticIps),
    }),
    list<Server>(app, {
      ...{ path: 'servers', many: 'servers', item: ListedServer, all: ({ lists }) => lists.servers() },
      show: ({ id, hostname, label, status, primaryIpv4, project, site }) => {
        return { id, hostname, label, status, primary_ipv4: primaryIpv4, project, site }
      },
      exact: (seen, search) => ofId(servers)(seen, search) ?? seen.account.servers.list({ hostname: search }),
    }),
    list<VirtualMachine>(app, {
      ...{ path: 'virtual-machines', many: 'virtual machines', item: ListedVirtualMachine, all: ({ lists }) => lists.virtualMachines() },
      show: ({ id, name, status, primaryIpv4, project, site }) => ({ id, name, status, primary_ipv4: primaryIpv4, project, site }),
      exact: ofId(virtualMachines),
    }),
    list<Plan>(app, {
      ...{ path: 'plans', many: 'plans', item: ListedPlan, all: ({ lists }) => lists.plans() },
      show: ({ id, name, stockLevel, regions }) => {
        return { id, name, stock: stockLevel, in_stock_sites: regions.flatMap(({ inStockSites }) => inStockSites) }
      },
    }),
  ]
}

const Named = z.object({ id: z.string().optional(), name: z.string().optional(), slug: z.string().optional() })
const text = z.string().optional()
const ListedElasticIp = z.object({
  id: z.string(),
  address: text,
  status: text,
  server: z.object({ id: z.string(), hostname: text }).optional(),
  project: Named.optional(),
  site: Named.optional(),
})
const ListedServer = z.object({
  id: z.string(),
  hostname: text,
  label: text,
  status: text,
  primary_ipv4: text,
  project: Named.optional(),
  site: Named.optional(),
})
const ListedVirtualMachine = z.object({
  id: z.string(),
  name: text,
  status: text,
  primary_ipv4: text,
  project: Named.optional(),
  site: text,
})
const ListedPlan = z.object({ id: z.string(), name: text, stock: text, in_stock_sites: z.array(z.string()) })

const mostListed = 200

/** So that a client that gives up after 5 s gets an answer. The read goes on, and the next call finds what it brings. */
const listMs = 4_000

interface Listing<Item> {
  path: string
  many: string
  item: z.ZodObject
  show: (item: Item) => Record<string, unknown>
  /** Reads the list. Throws as the reads of the account do. */
  all: (seen: App) => Promise<List<Item>>
  /** Reads only what is called exactly that, in one read. Undefined: it has no such read. */
  exact?: (seen: App, search: string) => Promise<Pick<List<Item>, 'items'>> | undefined
}

function list<Item extends object>(app: App, { path, many, item, show, all, exact }: Listing<Item>): Operation {
  /** Whether the whole list takes more reads than a machine has in a minute, as far as this process knows. */
  let isTooLong = false

  async function readAll(seen: App, search: string): Promise<List<Item>> {
    if (isTooLong && search !== '') {
      const { items = [] } = (await exact?.(seen, search)?.catch(nothingIfAbsent)) ?? {}
      if (items.length > 0) return { items, isWhole: false, cut: 'size' }
    }
    try {
      const read = await withinOr(listMs, all(seen), undefined)
      if (!read)
        throw new Refusal(
          'account-slow',
          mrkdwn`The account API takes long: the list is still being read. Send the call again in a few seconds.`,
          // The list is read on, so the next call finds it.
          { retryAt: Date.now() + 5_000 },
        )
      isTooLong = false
      return read
    } catch (error) {
      if (!(error instanceof AccountLimitError)) throw error
      isTooLong ||= (error.pages ?? 0) >= readsOfMachine(app.budget.perMinute.read)
      if (!isTooLong) throw error
      const whole = path === 'servers' ? 'an id, or a whole hostname' : 'an id'
      throw new Refusal(
        'list-too-long',
        mrkdwn`The account has more ${many} than a machine may read in a minute. Narrow with search: give ${whole}.`,
      )
    }
  }

  return {
    tool: `list_${path.replaceAll('-', '_')}`,
    title: `List ${many}`,
    description: `Lists the ${many} of the account${path === 'plans' ? '' : ', as far as you may request something there'}, at most 10 s old. ${dataNote}`,
    method: 'GET',
    path: `/v1/${path}`,
    input: z.strictObject({
      search: z.string().max(100).optional().describe('Returns only what contains this text'),
      limit: z.coerce.number().int().min(1).max(mostListed).default(50).describe('How many items to return'),
    }),
    output: z.object({
      items: z.array(item),
      complete: z.boolean().describe('False if there are more items, or the list is older than usual'),
      hint: z.string().optional().describe('How to see the rest'),
    }),
    hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    async run({ origin }, { search = '', limit }) {
      const wanted = String(search).toLowerCase()
      const { items, cut, unreadable, old } = await readAll(seenBy(app, origin), String(search))
      const found = items.map(show).filter((one) => JSON.stringify(one).toLowerCase().includes(wanted))
      const shown = found.slice(0, Number(limit))
      const isPart = shown.length < found.length
      const hint = isPart ? `These are ${shown.length} of ${found.length}. Narrow with search.` : undefined
      return { output: { items: shown, complete: !cut && !unreadable && !old && !isPart, hint } }
    },
  }
}

/** What a search finds although the list is too long to be read: the thing of this id. */
const ofId =
  <Item extends { id: string }>({ isId, read }: Thing<Item>) =>
  (seen: App, search: string): Promise<Pick<List<Item>, 'items'>> | undefined =>
    isId?.(search) ? read?.(seen, search, AbortSignal.timeout(listMs)).then((item) => ({ items: [item] })) : undefined
