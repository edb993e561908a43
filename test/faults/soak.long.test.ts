import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ops } from '../journeys/world.ts'
import { places } from './many-elastic-ips.ts'
import { type Scene, startScene } from './scene.ts'

const seconds = Number(process.env.SOAK_SECONDS ?? 60)
const perMinute = Number(process.env.SOAK_PER_MINUTE ?? 100)

/** Enough that each move has ended before its Elastic IP moves back. */
const elasticIps = 60

const collectGarbage = new URL('./collect-garbage.ts', import.meta.url).href

/** The first part of the run, in which the heap and the compiled code find their sizes. */
const warmUpShare = 0.25

interface Sample {
  residentBytes: number
  /** Objects that survived several collections. */
  oldBytes: number
  handles: number
  openFiles: number
}

function startSoak() {
  return startScene({
    elasticIps,
    moveTakes: { min: 1_000, max: 4_000 },
    // Short, because each request has a job that waits for its reminder.
    env: { MOVE_POLL_INTERVAL: '1s', APPROVAL_TTL: '20s' },
    redis: { settings: [] },
    nodeOptions: ['--max-semi-space-size=4', '--max-old-space-size=384', '--expose-gc', '--import', collectGarbage],
    keepAnswers: false,
  })
}

async function sample({ bots }: Scene): Promise<Sample> {
  const page = await (await bots.page(0, '/metrics')).text()
  const value = (name: string) => {
    const lines = page.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    return lines.length === 0 ? Number.NaN : lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  }
  return {
    residentBytes: value('process_resident_memory_bytes'),
    oldBytes: value('nodejs_heap_space_size_used_bytes{space="old"}'),
    handles: value('nodejs_active_handles'),
    openFiles: value('process_open_fds'),
  }
}

/** How many keys of Redis have no expiry. An open request has some. */
async function lastingKeys({ admin }: Scene): Promise<number> {
  const keys = await admin.keys('*')
  const lives = keys.length === 0 ? [] : ((await keys.reduce((pipeline, key) => pipeline.pttl(key), admin.pipeline()).exec()) ?? [])
  return lives.filter(([, ms]) => ms === -1).length
}

/** Requests moves at this pace, there and back, and sometimes a list. Everything is approved. */
async function work({ slack, ada, ben, elasticIp }: Scene, until: number): Promise<number> {
  let approving = true
  const approver = (async () => {
    const pressed = new Set<string>()
    while (approving) {
      for (const { ts, text } of slack.texts(ops)) {
        if (pressed.has(ts) || !text.includes('needs approval from')) continue
        pressed.add(ts)
        void ben.click({ channel: ops, ts }, 'Approve')
      }
      await delay(300)
    }
  })()
  let requested = 0
  for (; Date.now() < until; requested += 1) {
    const target = Math.floor(requested / elasticIps) % 2 === 0 ? places.to : places.from
    void ada.command(`/infra ip move ${elasticIp(requested % elasticIps).id} ${target}`, { channel: ops })
    if (requested % 5 === 0) void ben.command('/infra ip list', { channel: ops })
    await delay(60_000 / perMinute)
  }
  await delay(3_000)
  approving = false
  await approver
  return requested
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

function thirds(samples: Sample[], name: keyof Sample): number[] {
  const warm = samples.slice(Math.floor(samples.length * warmUpShare)).map((one) => one[name])
  const size = Math.floor(warm.length / 3)
  return [0, 1, 2].map((third) => median(warm.slice(third * size, (third + 1) * size)))
}

test(
  `${perMinute} requests a minute for ${seconds} s: memory, handles, open files and lasting keys do not grow (SOAK_SECONDS)`,
  async () => {
    const soak = await startSoak()
    const keysBefore = await lastingKeys(soak)
    const until = Date.now() + seconds * 1_000
    const samples: Sample[] = []
    const sampling = (async () => {
      while (Date.now() < until) {
        samples.push(await sample(soak))
        await delay(Math.max(500, seconds * 5))
      }
    })()
    const requested = await work(soak, until)
    await sampling

    expect(await soak.evidence.comeToRest(requested, 30_000)).toBe(true)
    const records = await soak.evidence.records()
    const keysLeft = (await lastingKeys(soak)) - keysBefore
    const names = ['residentBytes', 'oldBytes', 'handles', 'openFiles'] as const
    const figures = Object.fromEntries(names.map((name) => [name, thirds(samples, name)]))
    console.log(JSON.stringify({ requested, samples: samples.length, keysLeft, ...figures }))
    expect(records.filter(({ state }) => state !== 'done')).toEqual([])
    const room = { residentBytes: 1.1, oldBytes: 1.05, handles: 1.3, openFiles: 1.3 }
    for (const name of names) {
      const [first = 0, , last = 0] = figures[name] ?? []
      expect(first).toBeGreaterThan(0)
      expect({ name, figures: figures[name], grew: last > first * room[name] }).toMatchObject({ grew: false })
    }
    // One for each request would be more; each is counted once nothing is open.
    expect(keysLeft).toBeLessThan(requested / 4)
    expect(soak.bots.crashes).toEqual([])
  },
  (seconds + 90) * 1_000,
)
