import { Redis } from 'ioredis'
import { describe, expect, inject, test } from 'vitest'
import { parseKeyName } from '../../src/domain/account.ts'
import { usualTimings } from '../../src/domain/timings.ts'
import { keyInForm } from '../../src/features/keys/end-words.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { elementsOf } from '../sandbox/slack/elements.ts'
import { objectsOf } from '../sandbox/slack/json.ts'
import { dumpRedis } from './dump-redis.ts'
import { policyInFile } from './policy-in-file.ts'
import {
  forgetLists,
  hideSecrets,
  ops,
  people,
  startWorld,
  untilCard,
  untilReport,
  untilShown,
  type World,
  type WorldOptions,
} from './world.ts'

const stateKey = 'a-state-key-of-tests-that-is-long-enough'
const day = 24 * 3_600_000
const tokenPattern = /\b[0-9a-f]{36}\b/

const start = (options: WorldOptions = {}) =>
  startWorld({ timings: { ...usualTimings, repeatMs: 100 }, ...options, env: { STATE_KEY: stateKey, ...options.env } })

/** Ada requests something with a key, Ben approves it, and she presses the button, if it has one. */
async function carryOut(world: World, command: string, button?: string) {
  await world.ada.command(command, { channel: ops })
  const asked = await untilCard(world.slack, /needs approval from/)
  await world.ben.click(asked, 'Approve')
  if (!button) return asked
  await world.ada.click(await untilCard(world.slack, /\*Approved\.\*/), button)
  await untilReport(world.slack, asked.ts, /Done/)
  return asked
}

const keysCalled = ({ accountApi }: World, label: string) =>
  accountApi.world.data.apiKeys.filter(({ name }) => parseKeyName(name)?.label === label)

async function withRedis<Result>(work: (redis: Redis) => Promise<Result>): Promise<Result> {
  const redis = new Redis(inject('redisUrl'))
  return work(redis).finally(() => redis.disconnect())
}

/** Lets the bot look for what is due, as it does every 30 s. */
const tend = ({ prefix }: World) => withRedis((redis) => redis.del(createKeys(prefix).repeated('key-ends')))

/** Says when keys end, and what Redis has of them. */
async function recordsOf({ prefix }: World) {
  const records = await withRedis((redis) => redis.hgetall(createKeys(prefix).keyEnds))
  return Object.values(records).map((text) => JSON.parse(text.slice(text.indexOf(' '))))
}

describe('a key for a time', () => {
  test('is extended while the account is away by what is known of it, and one without an end is not', async () => {
    const world = await start()
    await carryOut(world, '/infra keys create ci-deploy for 30d', 'Create key')
    await world.ada.command('/infra keys', { channel: ops })
    await untilShown(world.slack, people.ada, /ci-deploy[\s\S]*Ends: /)
    await forgetLists(world)
    world.accountApi.faults.add({ method: 'GET', path: /./, times: 1_000, kind: 'status', status: 503 })

    await world.ada.command('/infra keys extend ci-deploy 60d', { channel: ops })
    const card = await untilCard(world.slack, /Extend API key ci-deploy from <!date/)
    expect(card.text).toMatch(/Token ends in `?[0-9a-f]{5}.*Access .*As of <!date/)
    await world.ada.command('/infra keys extend terraform 60d', { channel: ops })
    await untilShown(world.slack, people.ada, /this key doesn't end by itself/i)
  })

  test('says its end in the request, on the account, in the list and on Home, and its token is nowhere', async () => {
    const world = await start()
    const card = await carryOut(world, '/infra keys create ci-deploy for 30d because of the release', 'Create key')
    // Short forms have the title alone.
    expect(card.text).toMatch(/Create API key ci-deploy[^\n]*, for 30\sd\n[\s\S]*Ends 30\sd from its creation/)
    const [key] = keysCalled(world, 'ci-deploy')
    const named = parseKeyName(key?.name)
    expect(named).toMatchObject({ requester: people.ada, end: expect.any(Number) })
    expect(Math.abs((named?.end ?? 0) - Date.now() - 30 * day)).toBeLessThan(5 * 60_000)
    expect(await recordsOf(world)).toMatchObject([{ keyId: key?.id, end: named?.end, channelId: ops, threadTs: card.ts }])
    const report = await untilReport(world.slack, card.ts, /Done/)
    expect(report.text).toMatch(new RegExp(`ci-deploy\\. Its token was shown once\\. It ends <!date\\^${(named?.end ?? 0) / 1_000}\\^`))

    await world.ada.click(await untilCard(world.slack, /\*Done\*/), 'Details')
    const details = await untilShown(world.slack, people.ada, /Name on the account/)
    expect(details.text).toContain(`begins with \`${key?.name?.replace(/ until.*/, '')}\``)

    await world.ada.command('/infra keys ci-deploy', { channel: ops })
    const shown = await untilShown(world.slack, people.ada, /ci-deploy[\s\S]*Ends: <!date/)
    expect(shown.text).toContain(String((named?.end ?? 0) / 1_000))
    // Only a key that ends can be extended.
    await world.ada.click(shown, 'Details')
    expect(JSON.stringify((await untilShown(world.slack, people.ada, /^\*ci-deploy\*[\s\S]*Id: /)).blocks)).toContain('Extend…')
    await world.ada.command('/infra keys terraform', { channel: ops })
    await world.ada.click(await untilShown(world.slack, people.ada, /matching `terraform`/), 'Details')
    const endless = JSON.stringify((await untilShown(world.slack, people.ada, /^\*terraform\*[\s\S]*Id: /)).blocks)
    expect([endless.includes('Rotate…'), endless.includes('Extend…')]).toEqual([true, false])
    await world.ada.openHome()
    const home = await world.slack.until(() => JSON.stringify(world.ada.home() ?? '').includes('Your keys that end (1)') || undefined)
    expect(home).toBe(true)
    expect(await dumpRedis(inject('redisUrl'), `*${world.prefix}*`)).not.toContain(key?.token)
    expect([world.log.join(''), world.auditLines.join('')].join('')).not.toMatch(new RegExp(key?.token ?? 'none'))
  })

  test('is extended, its rotation keeps the end, and both need an approval', async () => {
    const world = await start()
    await carryOut(world, '/infra keys create ci-deploy for 2d', 'Create key')
    const [before] = keysCalled(world, 'ci-deploy')
    const token = before?.token
    const first = parseKeyName(before?.name)?.end ?? 0
    const extension = await carryOut(world, '/infra keys extend ci-deploy 30 days')
    expect(extension.text).toMatch(/^Approval needed: \*Extend API key ci-deploy from <!date[^>]*> to <!date[^>]*>\*\n/)
    expect(JSON.stringify(extension.blocks)).toMatch(/Token ends in.*Access\W.*read-only.*Usable from\W.*any IP/)
    await untilReport(world.slack, extension.ts, /Done/)
    const [after] = keysCalled(world, 'ci-deploy')
    const end = parseKeyName(after?.name)?.end ?? 0
    expect([after?.token === token, end - first]).toEqual([true, 30 * day])
    expect(await recordsOf(world)).toMatchObject([{ keyId: after?.id, end }])
    const again = await carryOut(world, '/infra keys extend ci-deploy in 90 days')
    await untilReport(world.slack, again.ts, /Done/)
    const last = parseKeyName(keysCalled(world, 'ci-deploy')[0]?.name)?.end ?? 0
    expect(Math.round((last - Date.now()) / day)).toBe(90)

    const rotation = await carryOut(world, '/infra keys rotate ci-deploy', 'Rotate key')
    const done = await untilReport(world.slack, rotation.ts, /Done/)
    expect(done.text).toMatch(new RegExp(`It ends <!date\\^${last / 1_000}\\^[^.]*\\. The old token no longer works`))
    const [rotated] = keysCalled(world, 'ci-deploy')
    expect([rotated?.token === token, parseKeyName(rotated?.name)?.end]).toEqual([false, last])
  })

  test('that an old message names opens a form with its present end, and a sentence with its name once it is gone', async () => {
    const world = await start()
    const card = await carryOut(world, '/infra keys create nightly for 2d', 'Create key')
    const [key] = keysCalled(world, 'nightly')
    const before = keyInForm({ label: 'nightly', lastSlice: key?.token.slice(-5), end: parseKeyName(key?.name)?.end })
    const value = JSON.stringify({ version: 1, id: key?.id, text: before })
    const open = () => world.ada.click(card, 'Approve', { action: { action_id: 'item:api-key:key.extend', value } })
    await untilReport(world.slack, (await carryOut(world, '/infra keys extend nightly 30d')).ts, /Done/)
    const now = keyInForm({
      label: 'nightly',
      lastSlice: key?.token.slice(-5),
      end: parseKeyName(keysCalled(world, 'nightly')[0]?.name)?.end,
    })
    const form = () => JSON.stringify(world.ada.topView()?.view ?? '')

    await open()
    await world.slack.until(() => form().includes(now), { what: 'the form with the new end' })
    await world.ada.close()
    const revoked = await carryOut(world, '/infra keys revoke nightly')
    expect(revoked.text).toMatch(/Ends <!date/)
    await untilReport(world.slack, revoked.ts, /Done/)
    // Also where another name is like it.
    await carryOut(world, '/infra keys create nightly2', 'Create key')
    const asked = ['Nightly', 'keys extend Nightly 30d', 'keys rotate Nightly', 'keys revoke Nightly']
    for (const [index, command] of asked.entries()) {
      await world.ada.command(`/infra ${command}`, { channel: ops })
      const words = 'No API key is called Nightly now. See `/infra audit Nightly`.'
      const answers = () => world.slack.ephemerals(people.ada).filter(({ text }) => text === words).length
      await expect.poll(answers, { message: command }).toBe(index + 1)
    }
    await open()
    await world.slack.until(() => form().includes('is no longer on the account. Nothing can be requested for it.'), {
      what: 'a sentence',
    })
    expect(form()).toContain(before)
    expect(form()).not.toContain(key?.id)
  })

  test('says to approvers of a rotation that a freeze is longer than the key lives', async () => {
    const world = await start()
    await carryOut(world, '/infra keys create ci-deploy for 1h', 'Create key')
    await world.ben.command('/infra freeze for 2h because of the sale', { channel: ops })
    await world.slack.until(() => world.slack.messages(ops).some(({ text }) => /\*Frozen\*/.test(text)) || undefined)
    await world.ada.command('/infra keys rotate ci-deploy', { channel: ops })
    await untilCard(world.slack, /needs approval from[^\n]* Held by a freeze, until <!date[^>]*>\. Too late: the key ends <!date/)
  })

  test.each([
    ['2h', / Held by a freeze, until <!date[^>]*>\. It keeps the key meanwhile, until <!date[^>]*> at most\.$/m],
    ['2d', / Held by a freeze, until <!date[^>]*>\. Too late: the key is kept only until <!date/],
  ])('is kept by an extension that a freeze of %s holds, which says so and what follows if it is withdrawn', async (lasts, words) => {
    const world = await start()
    await carryOut(world, '/infra keys create ci-deploy for 1h', 'Create key')
    await world.ada.command('/infra keys extend ci-deploy 30d', { channel: ops })
    const asked = await untilCard(world.slack, /Extend API key ci-deploy.*needs approval from/s)
    await world.ben.command(`/infra freeze for ${lasts} because of the sale`, { channel: ops })
    await untilCard(world.slack, /Extend API key.* Held by a freeze/s)
    await world.chiara.click(asked, 'Approve')
    await world.slack.until(() => world.chiara.openViews().length === 1)
    await world.chiara.submit()
    const card = await untilCard(world.slack, words)
    expect(JSON.stringify(card.blocks)).toMatch(/The key is then deleted at its end, or soon if that is past\./)
  })

  test('is not extended by an approval that comes after its end', async () => {
    const world = await start()
    await carryOut(world, '/infra keys create short for 1h', 'Create key')
    const end = parseKeyName(keysCalled(world, 'short')[0]?.name)?.end ?? 0
    await world.ada.command('/infra keys extend short 30d', { channel: ops })
    const asked = await untilCard(world.slack, /Extend API key short.*needs approval from/s)
    expect(Number(/ by <!date\^(\d+)/.exec(asked.text)?.[1])).toBe(Math.floor(end / 1_000))
  })

  test.each(['extend short 30d', 'rotate short', 'revoke short'])('that is gone is not requested again: keys %s', async (command) => {
    const world = await start()
    await carryOut(world, '/infra keys create short for 2d', 'Create key')
    const [key] = keysCalled(world, 'short')
    await world.ada.command(`/infra keys ${command}`, { channel: ops })
    await world.ada.click(await untilCard(world.slack, /needs approval from/), 'Withdraw')
    const withdrawn = await untilCard(world.slack, /\*Withdrawn\*/)
    await untilReport(world.slack, (await carryOut(world, '/infra keys revoke short')).ts, /Done/)
    const form = () => JSON.stringify(world.ada.topView()?.view ?? '')

    await world.ada.click(withdrawn, 'Request again')
    await world.slack.until(() => form().includes('is no longer on the account. Nothing can be requested for it.'), { what: 'a sentence' })
    expect(form()).toMatch(/short[^"]* is no longer/)
    expect(form()).not.toContain(key?.id)
  })

  test.each([
    ['extend short 30d', undefined],
    ['rotate short', 'Rotate key'],
    ['revoke short', undefined],
  ])('that was deleted by hand since its request is named in the report: keys %s', async (command, button) => {
    const world = await start()
    await carryOut(world, '/infra keys create short for 2d', 'Create key')
    const [key] = keysCalled(world, 'short')
    await world.ada.command(`/infra keys ${command}`, { channel: ops })
    const asked = await untilCard(world.slack, /needs approval from/)
    const { apiKeys } = world.accountApi.world.data
    apiKeys.splice(
      apiKeys.findIndex(({ id }) => id === key?.id),
      1,
    )
    await world.ben.click(asked, 'Approve')
    if (button) await world.ada.click(await untilCard(world.slack, /\*Approved\.\*/), button)
    const report = await untilReport(world.slack, asked.ts, /on the account/)

    expect(report.text).toContain(`No API key \`short (…${key?.token.slice(-5)})\` on the account.`)
  })

  test.each([
    ['took effect', 'drop-after', /Done/, 1],
    ['did not', 'drop-before', /Not started.*The key wasn't extended\. It ends as before/, 0],
  ] as const)('is extended or not, whatever became of the answer: the write %s', async (_, kind, words, isLater) => {
    const timings = { ...usualTimings, repeatMs: 100, graceMs: 600, unsettledMs: 600 }
    const world = await start({ timings })
    await carryOut(world, '/infra keys create ci-deploy for 2d', 'Create key')
    const [{ name = '' } = {}] = keysCalled(world, 'ci-deploy')
    const lost = world.accountApi.faults.add({ method: 'PATCH', path: /api_keys/, kind })
    const extension = await carryOut(world, '/infra keys extend ci-deploy 30d')
    await untilReport(world.slack, extension.ts, words)

    const [after] = keysCalled(world, 'ci-deploy')
    const end = parseKeyName(after?.name)?.end
    expect([lost.fired, Number(after?.name !== name)]).toEqual([1, isLater])
    expect(await recordsOf(world)).toMatchObject([{ keyId: after?.id, end }])
    expect(world.accountApi.journal.writes().filter(({ method }) => method === 'PATCH')).toHaveLength(1)
  })

  test('is refused with a sentence: without STATE_KEY, for no time, for an end that is not later, and for a key of others', async () => {
    const world = await start()
    const refusal = async (command: string, fits: RegExp) => {
      await world.ada.command(command, { channel: ops })
      return (await untilShown(world.slack, people.ada, fits)).text
    }
    await refusal('/infra keys create ci-deploy for 30', /`30` isn't an end/)
    await refusal('/infra keys create ci-deploy for 2', /`2` isn't an end/)
    await refusal('/infra keys extend terraform 2', /`2` isn't an end that Lockkeeper can read\. Write days, such as 30d/)
    await refusal('/infra keys create ci-deploy for yesterday', /Not requested: couldn't read `for yesterday`\. Write an end as/)
    await refusal('/infra keys rotate ci-deploy keeping the old one', /say for how long/i)
    for (const [synonym, command] of [
      ['delete', 'revoke'],
      ['prolong', 'extend'],
      ['add', 'create'],
    ])
      await refusal(`/infra keys ${synonym} ci-deploy`, new RegExp(`keys ${synonym}\` isn't a command\\. Did you mean .*keys ${command}`))
    await refusal('/infra help keys extend', /extend \[&lt;key&gt; &lt;time&gt; \| &lt;key&gt; until &lt;date&gt;\]/)
    await refusal(
      '/infra keys create ci-deploy in 45 days',
      /this can't start at a set time: it happens when you press \*Create key\*, once it's approved\. Leave the time out\. An end is written as `for 30d` or `until 2026-12-24`\.$/i,
    )
    for (const words of ['in 45 days', 'for 45 days'])
      await refusal(`/infra keys create ${words}`, /a name is missing\. Write it first, as in `ci-deploy for 45 days`/)
    await refusal('/infra keys create zz for 0d', /A key ends after one minute at the earliest/i)
    await refusal('/infra keys create ci-deploy until 2020-01-01 at 22:00', /Wed 1 Jan 2020, 22:00 \(Europe\/Berlin\) is past/)
    await refusal('/infra keys rotate at 22:00', /No API key `at 22:00`/)
    await carryOut(world, '/infra keys create ci-deploy 30d', 'Create key')
    const tomorrow = new Date(Date.now() + day).toISOString().slice(0, 10)
    await refusal(`/infra keys extend ci-deploy until ${tomorrow}`, /this key ends <!date\^\S+ \{date_short_pretty\}\|[^>]* UTC> already/i)
    await refusal('/infra keys extend ci-deploy 1d at 22:00', /this can't start at a set time: it happens right after it's approved/i)
    await refusal('/infra keys extend terraform 1d', /doesn't end by itself\. Request to revoke it when nobody needs it anymore\./)
    await refusal('/infra keys create 30d', /^Not requested: a name is missing\. Write it first, as in `ci-deploy for 30d`\.$/)
    await refusal('/infra keys rotate terraform keeping the old one for 1d', /Lockkeeper didn't make this key/)
    const without = await startWorld()
    await without.ada.command('/infra keys create ci-deploy for 30d', { channel: ops })
    await untilShown(without.slack, people.ada, /need STATE_KEY, which is not set/)
  })
})

describe('a rotation that keeps the old key for a while', () => {
  test('makes a new key with the same access, and the old one ends then', async () => {
    const world = await start()
    await carryOut(world, '/infra keys create ci-deploy for 30d', 'Create key')
    const [old] = keysCalled(world, 'ci-deploy')
    const card = await carryOut(world, '/infra keys rotate ci-deploy keeping the old one for 1d', 'Rotate key')
    expect(card.text).toMatch(/Rotate API key ci-deploy, keeping the old one for 1\sd/)
    const both = keysCalled(world, 'ci-deploy')
    expect(both).toMatchObject([
      { id: old?.id, token: old?.token },
      { readOnly: true, allowedIps: [] },
    ])
    expect(parseKeyName(both[1]?.name)?.end).toBe(parseKeyName(old?.name)?.end)
    const shown = world.slack.ephemerals(people.ada).filter(({ blocks }) => tokenPattern.test(JSON.stringify(blocks)))
    expect(shown).toHaveLength(2)
    expect(JSON.stringify(shown.at(-1)?.blocks)).toContain(`Its name on the account is \`${both[1]?.name}\``)

    // As soon as the new token was shown, lists and Home have the recorded ends, each with the end of its token.
    const ends = (await recordsOf(world)).toSorted((a, b) => Number(b.once !== undefined) - Number(a.once !== undefined) || a.end - b.end)
    const shownEnds = [...new Map(ends.map(({ keyId, end }) => [keyId, end])).values()].map((end) => String(end / 1_000))
    await world.ada.command('/infra keys ci-deploy', { channel: ops })
    const list = (await untilShown(world.slack, people.ada, /2 API keys matching/)).text
    await world.ada.openHome()
    const home = await world.slack.until(() => {
      const shownHome = JSON.stringify(world.ada.home() ?? '')
      return shownHome.includes('Your keys that end (2)') ? shownHome : undefined
    })
    // In one format.
    for (const end of shownEnds)
      expect([list, home].map((text) => text.match(new RegExp(`<!date\\^${end}\\^[^|]*`))?.[0])).toEqual(
        Array(2).fill(`<!date^${end}^{time} {date_short_pretty}`),
      )
    await world.ada.command('/infra ci-deploy', { channel: ops })
    const found = await untilShown(world.slack, people.ada, /API key, read-only[\s\S]*API key, read-only/)
    const labels = elementsOf(objectsOf(found.blocks)).map(({ element }) => element.accessibility_label)
    expect(labels.toSorted()).toEqual(both.map(({ token }) => `Show key: ci-deploy, token ends in ${token.slice(-5)}`).toSorted())
    expect([list, home, found.text].map((text) => text.match(/<!date[^>]*>, replaced by a newer key/g)?.length)).toEqual([1, 1, 1])
    for (const { token } of both) expect(found.text).toContain(`Token ends in \`${token.slice(-5)}\``)
    for (const { token } of both) expect(home).toContain(`token ends in \`${token.slice(-5)}\``)

    await tend(world)
    const renamed = () => Math.abs((parseKeyName(keysCalled(world, 'ci-deploy')[0]?.name)?.end ?? 0) - Date.now() - day) < 10 * 60_000
    await expect.poll(renamed).toBe(true)
    await expect.poll(async () => (await recordsOf(world)).map(({ once }) => once)).toEqual([undefined, undefined])
  })

  test('extends the old key from its own end at once, although the account still has the end from before', async () => {
    const world = await start()
    await carryOut(world, '/infra keys create pair for 20d', 'Create key')
    const [old] = keysCalled(world, 'pair')
    await carryOut(world, '/infra keys rotate pair keeping the old one for 1h', 'Rotate key')
    const own = (await recordsOf(world)).find(({ keyId, isReplaced }) => keyId === old?.id && isReplaced)
    await world.ada.command(`/infra keys extend ${old?.id} 1d`, { channel: ops })
    const extension = await untilCard(world.slack, /Extend API key pair[\s\S]*needs approval from/)
    expect(extension.text).toMatch(new RegExp(`from <!date\\^${own.end / 1_000}\\^[^>]*> to <!date\\^${(own.end + day) / 1_000}\\^`))
    await world.ben.click(extension, 'Approve')
    await untilReport(world.slack, extension.ts, /Done/)
    const ofOld = async () => {
      await tend(world)
      return (await recordsOf(world)).filter(({ keyId }) => keyId === old?.id)
    }
    await expect.poll(ofOld).toMatchObject([{ end: own.end + day, isReplaced: true }])
  })

  test('leaves two keys of one name, which a choice, a request and its result tell apart by their tokens and ends', async () => {
    const world = await start()
    await carryOut(world, '/infra keys create backup', 'Create key')
    await carryOut(world, '/infra keys rotate backup keeping the old one for 1d', 'Rotate key')
    const [old, latest] = keysCalled(world, 'backup').map(({ token }) => token.slice(-5))
    // The thread says so before the request is done.
    const settled = async () => {
      await tend(world)
      return (await recordsOf(world)).map(({ once }) => once)
    }
    await expect.poll(settled).toEqual([undefined])

    await world.ada.command('/infra keys replaced', { channel: ops })
    await untilShown(world.slack, people.ada, new RegExp(`1 API key[\\s\\S]*${old}`))
    // Only the old one ends, so that one is meant.
    const extension = await carryOut(world, '/infra keys extend backup 30d')
    expect(extension.text).toMatch(new RegExp(`Extend API key backup \\(token ends in \`?${old}\`?\\) from`))
    expect(extension.text).toContain('A newer key replaced this one. Extending it keeps its token working.')
    const extended = (await untilReport(world.slack, extension.ts, /Done/)).text
    const offeredBy = async (command: string) => {
      await world.ada.command(`/infra keys ${command}`, { channel: ops })
      await world.slack.until(() => world.ada.topView())
      const { options } = await world.ada.search(undefined, 'API key', 'backup')
      await world.ada.close()
      return options.map(({ text }) => text.text).toSorted()
    }
    for (const command of ['revoke', 'rotate']) expect(await offeredBy(command)).toEqual(['backup', 'backup (replaced by a newer key)'])
    expect(await offeredBy('extend')).toEqual([expect.stringMatching(`^backup \\(…${old}, replaced by a newer key, ends `)])
    expect(extended).toMatch(new RegExp(`Another API key \\(\`…${latest}\`\\) is also called backup and still works\\.`))

    await world.ada.command('/infra keys revoke backup', { channel: ops })
    const choice = await untilShown(world.slack, people.ada, /^2 API keys are called backup\./)
    const [first, second] = choice.text.split('token ends in').slice(1)
    expect([first, second]).toEqual([
      expect.stringMatching(new RegExp(`${old}[\\s\\S]*read-only {2}· {2}ends <!date[^>]*>, replaced by a newer key$`, 'm')),
      expect.stringMatching(new RegExp(`${latest}[\\s\\S]*read-only {2}· {2}doesn't end by itself`)),
    ])
    const labels = elementsOf(objectsOf(choice.blocks)).map(({ element }) => element.accessibility_label)
    expect(labels).toEqual([old, latest].map((slice) => expect.stringMatching(new RegExp(`^This one: backup +· +token ends in ${slice}$`))))
    const blockId = String(choice.blocks?.find((block) => JSON.stringify(block).includes(String(latest)))?.block_id)
    await world.ada.click(choice, 'revoke-api-key:this-one', { blockId })
    const card = await untilCard(
      world.slack,
      new RegExp(`Revoke API key backup \\(token ends in \`?${latest}\`?\\)[\\s\\S]*needs approval`),
    )
    const other = `Another API key \\(\`…${old}\`, ends <!date[^>]*>, replaced by a newer key\\) is also called backup`
    expect(card.text).toMatch(new RegExp(`${other}\\.`))
    await world.ben.click(card, 'Approve')
    const { text } = await untilReport(world.slack, card.ts, /Done/)
    expect(text).toMatch(
      new RegExp(`Revoked API key backup \\(token ends in \`?${latest}\`?\\).*no longer works\\. ${other} and still works\\.`),
    )
    await forgetLists(world)
    await world.ada.command('/infra backup', { channel: ops })
    await untilShown(world.slack, people.ada, /backup[\s\S]*Ends <!date[^>]*>(?!, replaced)/)
    await world.ada.command('/infra keys replaced', { channel: ops })
    await untilShown(world.slack, people.ada, /None of the \d+ API keys match `replaced`/)
  })

  test('says if it keeps the old key for less than was asked for, because it ends before', async () => {
    const world = await start()
    await carryOut(world, '/infra keys create ci-deploy for 35d', 'Create key')
    await world.ada.command('/infra keys rotate ci-deploy keeping the old one for 60d', { channel: ops })
    const card = await untilCard(world.slack, /Rotate API key ci-deploy, keeping the old one until <!date[\s\S]*needs approval from/)
    expect(card.text).toMatch(
      /The old key was to be kept for 60\sd, but it ends <!date[^>]*>, and so does the new one\. To keep the new one longer, extend it once it is created\./,
    )
    await world.ada.click(card, 'Withdraw')
    await untilCard(world.slack, /\*Withdrawn\*/)
    await world.ada.command('/infra keys rotate ci-deploy keeping the old one for 30d', { channel: ops })
    expect((await untilCard(world.slack, /Rotate API key ci-deploy.*needs approval from/s)).text).not.toContain('was to be kept')
  })

  test('ends the old key by its record, if the account does not rename it', async () => {
    const world = await start()
    await carryOut(world, '/infra keys create ci-deploy', 'Create key')
    const [old] = keysCalled(world, 'ci-deploy')
    const refused = world.accountApi.faults.add({ method: 'PATCH', path: /api_keys/, kind: 'status', status: 403, times: 5 })
    await carryOut(world, '/infra keys rotate ci-deploy keeping the old one for 1d', 'Rotate key')

    await tend(world)
    const recorded = async () => (await recordsOf(world)).filter(({ once }) => once === undefined).map(({ keyId, end }) => [keyId, end])
    await expect.poll(recorded).toEqual([[old?.id, expect.any(Number)]])
    expect(refused.fired).toBe(1)
    expect(keysCalled(world, 'ci-deploy')[0]?.name).toBe(old?.name)
  })

  test('leaves the old key as it was, if nobody saw the new token', async () => {
    const world = await start()
    await carryOut(world, '/infra keys create ci-deploy', 'Create key')
    const [old] = keysCalled(world, 'ci-deploy')
    await world.ada.command('/infra keys rotate ci-deploy keeping the old one for 1d', { channel: ops })
    const asked = await untilCard(world.slack, /needs approval from/)
    await world.ben.click(asked, 'Approve')
    const approved = await untilCard(world.slack, /\*Approved\.\*/)
    hideSecrets(world)
    await world.ada.click(approved, 'Rotate key')
    await untilReport(world.slack, asked.ts, /Failed.*The old key still works/)
    expect(keysCalled(world, 'ci-deploy')).toMatchObject([{ id: old?.id, token: old?.token, name: old?.name }])
    await tend(world)
    await expect.poll(() => recordsOf(world)).toEqual([])
  })
})

describe('a rotation of the key of another person', () => {
  const [ada, ben] = [people.ada, people.ben].map((id) => `<[^>]*${id}[^>]*>`)
  test.each<[words: string, asked: string, done: string, owner: string]>([
    [
      ' keeping the old one for 1d',
      `The new key is ${ben}'s: only ${ben} sees its token\\. The old one is ${ada}'s\\.`,
      `Created a new API key ci-deploy\\. Its token was shown once, to ${ben}\\. It ends .*The old key of ${ada} works until`,
      people.ben,
    ],
    [
      '',
      `Only ${ben} sees the new token, although the key is ${ada}'s\\.`,
      `Rotated API key ci-deploy, for ${ada}\\. Its new token was shown once, to ${ben}\\.`,
      people.ada,
    ],
  ])('says before and after whose the new token is: rotate%s', async (words, asked, done, owner) => {
    const world = await start()
    await carryOut(world, '/infra keys create ci-deploy for 30d', 'Create key')
    await world.ben.command(`/infra keys rotate ci-deploy${words}`, { channel: ops })
    const card = await untilCard(world.slack, /Rotate API key[\s\S]*needs approval from/)
    expect(card.text).toMatch(new RegExp(asked))
    await world.chiara.click(card, 'Approve')
    await world.ben.click(await untilCard(world.slack, /Rotate API key[\s\S]*\*Approved\.\*/), 'Rotate key')
    expect((await untilReport(world.slack, card.ts, /Done/)).text).toMatch(new RegExp(done))
    expect(parseKeyName(keysCalled(world, 'ci-deploy').at(-1)?.name)?.requester).toBe(owner)
  })
})

test('a rule is judged at the request, at the approval and at the creation', async () => {
  const policy = (ends: string) => ({
    POLICY_FILE: policyInFile(`rules:\n  - {name: keys, approve: [S0ONCALL01], ends: ${ends}}\n`),
  })
  const world = await start({ env: policy('{longest: 30d, default: 10d}') })
  await world.ada.command('/infra keys create ci-deploy for 31d', { channel: ops })
  await untilShown(world.slack, people.ada, /the rule “keys” allows a key for at most 30\sd/i)
  await world.ada.command('/infra keys create ci-deploy', { channel: ops })
  const usual = await untilCard(world.slack, /ci-deploy.*needs approval from.*10\sd from its creation/s)
  await world.ada.command('/infra keys create approved for 29d', { channel: ops })
  const asked = await untilCard(world.slack, /key approved.*needs approval from.*29\sd from its creation/s)
  await world.ben.click(asked, 'Approve')
  const approved = await untilCard(world.slack, /\*Approved\.\*/)

  // The same bot with another policy.
  const next = await world.startBot({ STATE_KEY: stateKey, ...policy('{longest: 5d}') })
  world.slack.connectBot(next.slackUrl)
  try {
    await world.ben.click(usual, 'Approve')
    await untilShown(world.slack, people.ben, /The rule “keys” no longer allows this end/)
    await world.ada.click(approved, 'Create key')
    await untilShown(world.slack, people.ada, /The policy doesn't allow the end that the key would get/)
    expect([...keysCalled(world, 'ci-deploy'), ...keysCalled(world, 'approved')]).toEqual([])
  } finally {
    await next.stop()
  }
})
