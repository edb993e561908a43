import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, inject, onTestFinished, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { bundles, changeKinds } from '../../src/features/index.ts'
import { buttonValue } from '../../src/messages/words.ts'
import { createLog } from '../../src/ops/log.ts'
import { createBot } from '../../src/start/bot.ts'
import { garbageRequest, type Known, statusFor } from '../faults/garbage-payloads.ts'
import { startStandInWorld } from '../faults/stand-in-world.ts'
import { openRecords } from '../journeys/records.ts'
import { ops, people, untilCard, untilShown } from '../journeys/world.ts'
import { botVariables } from '../sandbox/bot-process.ts'
import type { RawRequest } from '../sandbox/slack/slack.ts'
import { form, nowSeconds } from './half-sent.ts'

const seconds = Number(process.env.FUZZ_SECONDS ?? 60)
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))
const atOnce = 50

/** The first part of the run, in which the heap and the code that is compiled find their sizes. */
const warmUpShare = 0.4

type FuzzWorld = Awaited<ReturnType<typeof startStandInWorld>>

const collectGarbage = new URL('../faults/collect-garbage.ts', import.meta.url).href

function startWorld(): Promise<FuzzWorld> {
  const nodeOptions = ['--max-semi-space-size=4', '--max-old-space-size=1536', '--expose-gc', '--import', collectGarbage]
  return startStandInWorld({ nodeOptions, slack: { keepAnswers: false, ackDeadlineMs: 20_000 } })
}

/** The ids that a bot listens to, read from one that is not started, and a button of a request that waits. */
async function readKnown(world: FuzzWorld): Promise<Known> {
  const { slack, accountApi, ada } = world
  const { elasticIp, target } = accountApi.world.movable()
  await ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(slack, /needs approval from/)
  const [request] = await openRecords(world).all()
  if (!request) throw new Error('nothing was recorded')
  const variables = botVariables({ slack, accountApi, redisUrl: inject('redisUrl'), socketMode: false })
  const bot = createBot(readConfig(variables, { kinds: changeKinds, bundles }), { log: createLog({ level: 'fatal' }) })
  onTestFinished(bot.stop)
  const { clicks, submissions, options } = bot.interactions
  return {
    words: bot.commands.map(({ words }) => words),
    clicks: [...Object.keys(clicks), 'constructor', '__proto__'],
    submissions: [...Object.keys(submissions), 'constructor'],
    options: [...Object.keys(options), 'toString'],
    blocks: ['reason', 'confirmed', 'constructor', '__proto__'],
    buttonValue: buttonValue(request),
    cardTs: card.ts,
  }
}

interface Expected extends RawRequest {
  statuses: number[]
}

/** What a person could do, so that it has to be acknowledged. */
function validRequest({ words }: Known): fc.Arbitrary<RawRequest> {
  const person = fc.constantFrom(people.ada, people.ben, people.chiara)
  const command = fc.tuple(person, fc.constantFrom('help', ...words), fc.uuid()).map(([userId, text, triggerId]) => ({
    contentType: form,
    body: String(
      new URLSearchParams({ command: '/infra', text, user_id: userId, channel_id: ops, team_id: 'T0NIMBUS01', trigger_id: triggerId }),
    ),
  }))
  const home = fc.tuple(person, fc.uuid()).map(([user, id]) => ({
    contentType: 'application/json',
    body: JSON.stringify({
      type: 'event_callback',
      team_id: 'T0NIMBUS01',
      event_id: id,
      event: { type: 'app_home_opened', user, tab: 'home' },
    }),
  }))
  return fc.oneof(command, home)
}

/** A request of any kind, signed and in time, or with something about its headers that makes it no request of Slack's. */
function anyRequest(known: Known): fc.Arbitrary<Expected> {
  const content = fc.oneof({ weight: 1, arbitrary: validRequest(known) }, { weight: 4, arbitrary: garbageRequest(known) })
  const signed = content.map((raw) => ({ ...raw, statuses: [statusFor(raw)] }))
  const refused: ((raw: RawRequest) => Expected)[] = [
    (raw) => ({ ...raw, signingSecret: 'another secret', statuses: [401, 415] }),
    (raw) => ({ ...raw, timestamp: nowSeconds() - 310, statuses: [401, 415] }),
    (raw) => ({ ...raw, timestamp: nowSeconds() + 310, statuses: [401, 415] }),
    (raw) => ({ ...raw, headers: { 'x-slack-request-timestamp': '-1' }, statuses: [401, 415] }),
    (raw) => ({ ...raw, contentType: 'multipart/form-data; boundary=x', statuses: [415] }),
    (raw) => ({ ...raw, contentType: raw.contentType === form ? 'application/json' : form, statuses: [200, 400] }),
    (raw) => ({ ...raw, body: `${raw.body}${' '.repeat(1_048_577)}`, statuses: [413] }),
  ]
  const nearlySigned = fc.tuple(content, fc.constantFrom(...refused)).map(([raw, refuse]) => refuse(raw))
  return fc.oneof({ weight: 5, arbitrary: signed }, { weight: 1, arbitrary: nearlySigned })
}

async function sample({ bots }: FuzzWorld): Promise<{ residentBytes: number; oldBytes: number }> {
  const page = await (await bots.page(0, '/metrics')).text()
  const value = (series: string) =>
    Number(
      page
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    )
  return { residentBytes: value('process_resident_memory_bytes'), oldBytes: value('nodejs_heap_space_size_used_bytes{space="old"}') }
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
}

test(
  `requests of every kind, valid and nearly valid, for ${seconds} s: each is answered, none with 5xx, and memory stays flat (FUZZ_SEED=${seed})`,
  async () => {
    const world = await startWorld()
    const arbitrary = anyRequest(await readKnown(world))
    const statuses: Record<number, number> = {}
    const samples: Awaited<ReturnType<typeof sample>>[] = []
    const until = Date.now() + seconds * 1_000

    for (let batch = 0; Date.now() < until; batch += 1) {
      const requests = fc.sample(arbitrary, { numRuns: atOnce, seed: seed + batch })
      const answers = await Promise.all(requests.map((request) => world.slack.sendRaw(request)))
      for (const [index, { status }] of answers.entries()) {
        const request = requests[index]
        statuses[status] = (statuses[status] ?? 0) + 1
        expect(request?.statuses, JSON.stringify({ status, request }).slice(0, 3_000)).toContain(status)
      }
      samples.push(await sample(world))
    }

    await world.ada.command('/infra help', { channel: ops })
    await untilShown(world.slack, people.ada, /What you can do/)
    // What was begun may end.
    await delay(3_000)
    const warm = samples.slice(Math.floor(samples.length * warmUpShare))
    const third = Math.floor(warm.length / 3)
    const figures = (['residentBytes', 'oldBytes'] as const).map((name) => ({
      name,
      first: median(warm.slice(0, third).map((one) => one[name])),
      last: median(warm.slice(-third).map((one) => one[name])),
    }))
    const defects = world.bots.log.filter((line) => line.includes('"reference"')).map((line) => /"message":"[^"]*"/.exec(line)?.[0] ?? line)
    console.log(JSON.stringify({ FUZZ_SEED: seed, batches: samples.length, statuses, figures, defects: [...new Set(defects)] }))
    for (const { name, first, last } of figures) expect({ name, first, last, grew: last > first * 1.15 }).toMatchObject({ grew: false })
    expect(world.bots.crashes).toEqual([])
    expect(world.bots.log.filter((line) => /"level":"fatal"|[Uu]nhandled/.test(line))).toEqual([])
    expect(world.accountApi.journal.writes()).toEqual([])
  },
  (seconds + 60) * 1_000,
)
