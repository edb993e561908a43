import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { type Check, type Health, type Page, startHealth } from '../../src/ops/health.ts'

const open: Health[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((health) => health.close()))
})

async function start(checks: Record<string, Check> = {}, pages: Record<string, () => Promise<Page>> = {}) {
  const entries: unknown[][] = []
  const record = (...entry: unknown[]) => void entries.push(entry)
  const health = await startHealth({ port: 0, checks, pages, log: { info: record, warn: record } })
  open.push(health)
  const url = `http://127.0.0.1:${health.port()}`
  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`${url}${path}`, { method })
    const text = await response.text()
    return { status: response.status, body: text === '' ? '' : JSON.parse(text) }
  }
  return { ask, health, entries }
}

describe('the health page', () => {
  it('answers as long as the process turns, whatever the checks say', async () => {
    const { ask } = await start({
      redis: () => {
        throw new Error('Redis does not answer')
      },
    })

    expect(await ask('/healthz')).toEqual({ status: 200, body: { alive: true } })
  })
})

describe('the readiness page', () => {
  it('is ready when every check passes', async () => {
    const { ask } = await start({ redis: async () => {}, queue: () => {} })

    expect(await ask('/readyz')).toEqual({ status: 200, body: { ready: true, checks: { redis: 'ok', queue: 'ok' } } })
  })

  it('says in words which check fails, without what hangs on its error', async () => {
    const { ask } = await start({
      redis: async () => {
        throw Object.assign(new Error('Redis does not answer at redis://default:pw@redis.internal'), { command: { args: ['pw'] } })
      },
      slack: async () => {},
    })

    expect(await ask('/readyz?verbose')).toEqual({
      status: 503,
      body: { ready: false, checks: { redis: 'Redis does not answer at redis://[redacted]@redis.internal', slack: 'ok' } },
    })
  })

  it('does not wait for a check that hangs, and does not start it again meanwhile', async () => {
    let runs = 0
    const { ask } = await start({
      redis: () => {
        runs += 1
        return new Promise(() => {})
      },
    })

    const answers = await Promise.all([ask('/readyz'), ask('/readyz'), ask('/readyz')])

    expect(answers.map(({ body }) => body.checks.redis)).toEqual(Array(3).fill('no answer within 2 s'))
    expect(runs).toBe(1)
  })

  it('tells the log when readiness is lost and found again, once each', async () => {
    let well = true
    const { ask, entries } = await start({
      redis: () => {
        if (!well) throw new Error('Redis does not answer')
      },
    })

    await ask('/readyz')
    well = false
    await ask('/readyz')
    await ask('/readyz')
    well = true
    await ask('/readyz')
    await ask('/readyz')

    expect(entries).toEqual([[{ checks: { redis: 'Redis does not answer' } }, 'not ready'], ['ready again']])
  })
})

describe('the port for operators', () => {
  it('knows its pages and no others', async () => {
    const { ask } = await start()

    expect(await ask('/slack/events', 'POST')).toEqual({ status: 404, body: { error: 'There is /healthz, /readyz.' } })
    expect((await ask('/toString')).status).toBe(404)
    expect((await ask('/healthz', 'POST')).status).toBe(405)
    expect(await ask('/healthz', 'HEAD')).toEqual({ status: 200, body: '' })
  })

  it('takes further pages, and answers when one of them fails', async () => {
    const { ask } = await start(
      {},
      {
        '/numbers': async () => ({ status: 200, type: 'application/json', body: '[1]' }),
        '/broken': async () => {
          throw new Error('no numbers')
        },
      },
    )

    expect(await ask('/numbers')).toEqual({ status: 200, body: [1] })
    expect(await ask('/broken')).toEqual({ status: 500, body: { error: 'This page failed; the log says more.' } })
  })

  it('rejects when another process has the port', async () => {
    const { health } = await start()

    await expect(startHealth({ port: health.port(), checks: {} })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  it('closes at once, with connections open', async () => {
    const { health } = await start()
    const port = health.port()
    const opened = request({ port, path: '/healthz', headers: { connection: 'keep-alive' } }).on('error', () => {})
    await new Promise((resolve) => opened.on('response', (response) => response.resume().on('end', resolve)).end())

    await health.close()
    open.splice(0)

    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed')
  })
})
