import { describe, expect, test } from 'vitest'
import type { ApiKey, VirtualMachine } from '../../src/account/objects.ts'
import { uniqueKeyName } from '../../src/domain/account.ts'
import { ApiError, ApiUnreachableError, ListCutError } from '../../src/domain/errors.ts'
import type { List } from '../../src/domain/list.ts'
import {
  type AnyThing,
  askWhichOne,
  candidatesOf,
  findOption,
  findTyped,
  offerThings,
  optionById,
  suggesting,
} from '../../src/kit/thing.ts'
import { apiKeys, elasticIps, virtualMachines } from '../../src/kit/things.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import { fakeApp } from '../fake-app.ts'
import { readableBlocks } from '../messages/readable.ts'
import { wholeList } from '../whole-list.ts'

const machine = {
  id: 'vm_1zHfNurvp25kg',
  name: 'web-1',
  status: 'Running',
  primaryIpv4: '192.0.2.110',
  site: 'ASH',
  project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
} as VirtualMachine
const twin = { ...machine, id: 'vm_2sMUCJzOnrmNC', project: { id: 'proj_2RBis9AK23gEc', name: 'Billing', slug: 'billing' }, site: 'FRA' }
const db = { ...machine, id: 'vm_9nRm45pQIB1kZ', name: 'db-1', primaryIpv4: '192.0.2.7', site: 'FRA' }

const absent = new ApiError({ operation: 'virtualMachines.get', status: 404, codes: [] })
const away = new ApiUnreachableError({ operation: 'virtualMachines.get', requestSent: 'unknown', problem: 'away' })

function appWith(list: VirtualMachine[] | List<VirtualMachine> | Error, get: VirtualMachine | Error = absent) {
  const answer =
    <T>(given: T | Error) =>
    async (): Promise<T> => {
      if (given instanceof Error) throw given
      return given
    }
  return fakeApp({
    lists: { virtualMachines: answer(Array.isArray(list) ? wholeList(list) : list) },
    account: { virtualMachines: { get: answer(get) } },
  })
}

const idsOf = async (found: Promise<{ id: string }[]>) => (await found).map(({ id }) => id)

describe('what a person typed', () => {
  test('is found by name in any case, and may be several things', async () => {
    expect(await idsOf(findTyped(appWith([machine, db]), virtualMachines, ' WEB-1 '))).toEqual([machine.id])
    expect(await idsOf(findTyped(appWith([machine, twin, db]), virtualMachines, 'web-1'))).toEqual([machine.id, twin.id])
    expect(await idsOf(findTyped(appWith([machine, twin]), virtualMachines, twin.id))).toEqual([twin.id])
  })

  test('is found without what pasting adds, also if the account has such a name, and then it may be two', async () => {
    const old = { ...db, name: '_web\u200b-1_' } as VirtualMachine
    expect(await idsOf(findTyped(appWith([db, old]), virtualMachines, 'web-1'))).toEqual([old.id])
    expect(await idsOf(findTyped(appWith([machine, old]), virtualMachines, '*web\u20111*'))).toEqual([machine.id, old.id])
  })

  test('is read by its id, also if it is not in the list yet, and is used as an id while nothing answers', async () => {
    expect(await idsOf(findTyped(appWith([], db), virtualMachines, db.id))).toEqual([db.id])
    expect(await idsOf(findTyped(appWith(away, away), virtualMachines, db.id))).toEqual([db.id])
    await expect(findTyped(appWith(away, away), virtualMachines, 'db-1')).rejects.toBe(away)
  })

  test('is never taken for gone if the list was cut', async () => {
    const cut = { items: [machine], isWhole: false, cut: 'size' as const }
    await expect(findTyped(appWith(cut), virtualMachines, 'db-1')).rejects.toThrow(ListCutError)
  })

  test('is refused with names that were probably meant, if nothing has the name', async () => {
    const app = appWith([machine, db])
    const search = suggesting(app, [virtualMachines], '/infra', findTyped(app, virtualMachines, 'web-12'))

    await expect(search).rejects.toThrow('No virtual machine web-12. Did you mean web-1?')
  })

  test('fills a picker, unless several things have the name', async () => {
    expect(await findOption(appWith([machine]), virtualMachines, 'web-1')).toMatchObject({ value: machine.id })
    const several = findOption(appWith([machine, twin]), virtualMachines, 'web-1')
    await expect(several).rejects.toThrow('2 virtual machines are called web-1. Choose one below.')
  })
})

describe('things of one name', () => {
  const choice = { actionId: 'this-one', command: '/infra' }
  const asked = {
    thing: virtualMachines,
    typed: 'web-1',
    inputOf: (id: string) => ({ id }),
    ask: mrkdwn`Which one?`,
    byId: 'vm rename <id> x',
  }

  test('have a button each, with only what could be typed', () => {
    const { blocks } = askWhichOne({ ...asked, found: [machine, twin] }, choice)

    expect(readableBlocks(blocks)).toMatchInlineSnapshot(`
      "2 virtual machines are called web-1. Which one?
      *web-1*  ·  \`vm_1zHfNurvp25kg\`
      Storefront, ASH  ·  192.0.2.110  ·  Running
      [This one]
      *web-1*  ·  \`vm_2sMUCJzOnrmNC\`
      Billing, FRA  ·  192.0.2.110  ·  Running
      [This one]"
    `)
    expect(blocks.flatMap((block) => (block.type === 'section' && block.accessory) || [])).toMatchObject(
      [machine, twin].map(({ id }) => ({
        action_id: 'this-one',
        value: JSON.stringify({ version: 2, input: { id }, command: '/infra' }),
      })),
    )
  })

  test('of one name are listed by what differs, and keys without ids', () => {
    const createdAt = '2026-11-20T10:00:00Z'
    const key = (id: string, tokenLastSlice: string, by: string) =>
      ({ id, name: uniqueKeyName('ci', by, 'a'.repeat(32)), tokenLastSlice, createdAt, user: { email: 'bot@example.com' } }) as ApiKey
    const found = [key('tok_1', 'x7Qz1', 'U0ADA00001'), key('tok_2', 'b2c3d', 'U0BEN00001')] as const
    const { blocks } = askWhichOne({ ...asked, thing: apiKeys, typed: 'ci', found: [...found] }, choice)

    expect(readableBlocks(blocks)).toMatchInlineSnapshot(`
      "2 API keys are called ci. Which one?
      *ci*  ·  token ends in \`x7Qz1\`
      for <@U0ADA00001>  ·  created <!date^1795168800^{time} {date_short_pretty}|2026-11-20 10:00 UTC>  ·  owner bot@example.com
      [This one]
      *ci*  ·  token ends in \`b2c3d\`
      for <@U0BEN00001>  ·  created <!date^1795168800^{time} {date_short_pretty}|2026-11-20 10:00 UTC>  ·  owner bot@example.com
      [This one]"
    `)
    expect(JSON.stringify(apiKeys.candidate(found[0]).description)).toBe(
      '"ends in x7Qz1  ·  created 2026-11-20 10:00 UTC  ·  bot@example.com"',
    )
  })

  test('have no button if their id does not fit into one', () => {
    const { text, blocks } = askWhichOne({ ...asked, found: [machine, { ...twin, id: 'x'.repeat(2_000) }] }, choice)

    expect(blocks.filter((block) => block.type === 'section' && block.accessory)).toHaveLength(1)
    expect(text).toContain('Not shown: 1 more.')
  })
})

describe('a picker', () => {
  test.each([
    ['name', 'DB'],
    ['id', 'vm_9nRm45pQIB1kZ'],
    ['address', '192.0.2.7'],
    ['site', 'fra'],
    ['site and project', 'fra store'],
  ])('is searched by %s', async (_, typed) => {
    const { options } = await offerThings(appWith([machine, db]), virtualMachines, typed)
    expect(options.map(({ value }) => value)).toEqual(['vm_9nRm45pQIB1kZ'])
  })

  test('shows what distinguishes two of one name, and only what fits', async () => {
    const { options } = await offerThings(appWith([machine, db, twin]), virtualMachines, '', ({ id }) => id !== twin.id)

    expect(options.map(({ text, description, value }) => [text.text, description?.text, value])).toEqual([
      ['db-1 (Storefront, FRA)', '192.0.2.7 · vm_9nRm45pQIB1kZ', 'vm_9nRm45pQIB1kZ'],
      ['web-1 (Storefront, ASH)', '192.0.2.110 · vm_1zHfNurvp25kg', 'vm_1zHfNurvp25kg'],
    ])
  })

  test('leaves out what could only be refused, and says why if nothing else was meant', async () => {
    const address = (last: number, status: string) => ({ id: `eip_${last}`, address: `203.0.113.${last}`, status })
    const all = [address(1, 'active'), address(2, 'error'), { ...address(3, 'active'), id: 'ueip_3' }]
    const keys = [{ id: 'tok_1', name: 'lockkeeper', tokenLastSlice: '2daaa' }]
    const app = fakeApp({
      lists: { elasticIps: async () => wholeList(all) as never, apiKeys: async () => wholeList(keys) as never },
      ownLastSlice: '2daaa',
    })
    const offered = async (thing: AnyThing, typed: string) =>
      (await offerThings(app, thing, typed)).options.map(({ text, description }) => [text.text, description?.text])

    expect(await offered(elasticIps, '203.0.113')).toEqual([['203.0.113.1, no server shown', 'eip_1']])
    expect(await offered(elasticIps, '203.0.113.2')).toEqual([["203.0.113.2 can't be chosen.", 'Its status is error.']])
    expect(await offered(elasticIps, '203.0.113.3')).toEqual([["203.0.113.3 can't be chosen.", 'BGP addresses are never moved.']])
    expect(await offered(elasticIps, '203.0.113.9')).toEqual([])
    expect(await offered(apiKeys, '')).toEqual([["lockkeeper can't be chosen.", 'Lockkeeper uses this key.']])
  })

  test('offers in the order of names, by the numbers in them, and forgets what an earlier list had', () => {
    const named = (...numbers: number[]) => numbers.map((number) => ({ ...machine, id: `vm_${number}`, name: `web-${number}` }))
    const offered = (items: VirtualMachine[]) => candidatesOf(virtualMachines, items).map(([{ id }]) => id)
    const items = named(10, 2, 1)
    expect(offered(items)).toEqual(['vm_1', 'vm_2', 'vm_10'])
    expect(candidatesOf(virtualMachines, items)).toBe(candidatesOf(virtualMachines, items))
    expect(offered(named(4, 3))).toEqual(['vm_3', 'vm_4'])
  })

  test('is filled with the name of a known id, and with the id if there is none', async () => {
    expect(await optionById(appWith([db]), virtualMachines, db.id)).toMatchObject({ text: { text: 'db-1' }, value: db.id })
    expect(await optionById(appWith(away), virtualMachines, db.id)).toMatchObject({ text: { text: db.id }, value: db.id })
    expect(await optionById(appWith([]), virtualMachines, 'x'.repeat(80))).toBeUndefined()
  })
})
