import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { type Health, type Page, startHealth } from '../../src/ops/health.ts'

const open: Health[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((health) => health.close()))
})

interface Options {
  whyNotReady?: () => Promise<string | undefined>
  pages?: Record<string, () => Promise<Page>>
}

async function start({ whyNotReady = async () => undefined, pages = {} }: Options = {}) {
  const health = await startHealth({ port: 0, whyNotReady, pages })
  open.push(health)
  const url = `http://127.0.0.1:${health.port}`
  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`${url}${path}`, { method })
    const text = await response.text()
    return { status: response.status, body: text === '' ? '' : JSON.parse(text) }
  }
  return { ask, health }
}

describe('the health page', () => {
  it('answers as long as the process is alive, ready or not', async () => {
    const { ask } = await start({ whyNotReady: async () => 'starting' })

    expect(await ask('/healthz')).toEqual({ status: 200, body: { alive: true } })
  })
})

describe('the readiness page', () => {
  it('is 200 when there is no reason why not, and 503 with the reason when there is one', async () => {
    let why: string | undefined = 'starting: waiting for Slack'
    const { ask } = await start({ whyNotReady: async () => why })

    expect(await ask('/readyz?verbose')).toEqual({ status: 503, body: { ready: false, why: 'starting: waiting for Slack' } })
    why = undefined
    expect(await ask('/readyz')).toEqual({ status: 200, body: { ready: true } })
  })
})

describe('the operations port', () => {
  it('knows its pages and no others', async () => {
    const { ask } = await start()

    expect(await ask('/slack/events', 'POST')).toEqual({ status: 404, body: { error: 'There is /healthz, /readyz.' } })
    expect((await ask('/toString')).status).toBe(404)
    expect((await ask('/healthz', 'POST')).status).toBe(405)
    expect(await ask('/healthz', 'HEAD')).toEqual({ status: 200, body: '' })
  })

  it('takes further pages, and answers when one of them fails', async () => {
    const { ask } = await start({
      pages: {
        '/numbers': async () => ({ status: 200, type: 'application/json', body: '[1]' }),
        '/broken': async () => {
          throw new Error('no numbers')
        },
      },
    })

    expect(await ask('/numbers')).toEqual({ status: 200, body: [1] })
    expect(await ask('/broken')).toEqual({ status: 500, body: { error: 'This page failed; the log says more.' } })
  })

  it('rejects with what to do when another process has it', async () => {
    const { health } = await start()

    await expect(startHealth({ port: health.port, whyNotReady: async () => undefined })).rejects.toThrow(
      `OPS_PORT ${health.port} is used by another program.`,
    )
  })

  it('closes at once, with connections open', async () => {
    const { health } = await start()
    const { port } = health
    const opened = request({ port, path: '/healthz', headers: { connection: 'keep-alive' } }).on('error', () => {})
    await new Promise((resolve) => opened.on('response', (response) => response.resume().on('end', resolve)).end())

    await health.close()
    open.splice(0)

    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed')
  })
})
