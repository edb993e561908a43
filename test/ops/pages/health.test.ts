import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { type Health, type Page, startHealth } from '../../../src/ops/health.ts'

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
  const read = async (path: string, method = 'GET') => {
    const response = await fetch(`${url}${path}`, { method })
    const text = await response.text()
    return { status: response.status, body: text === '' ? '' : JSON.parse(text) }
  }
  return { read, health }
}

describe('the health page', () => {
  it('is 200 while the process is alive, even if it is not ready', async () => {
    const { read } = await start({ whyNotReady: async () => 'starting' })

    expect(await read('/healthz')).toEqual({ status: 200, body: { alive: true } })
  })
})

describe('the readiness page', () => {
  it('is 200 when the bot is ready, and 503 with the reason when it is not', async () => {
    let why: string | undefined = 'starting: waiting for Slack'
    const { read } = await start({ whyNotReady: async () => why })

    expect(await read('/readyz?verbose')).toEqual({ status: 503, body: { ready: false, why: 'starting: waiting for Slack' } })
    why = undefined
    expect(await read('/readyz')).toEqual({ status: 200, body: { ready: true } })
  })
})

describe('the operations port', () => {
  it('answers 404 for unknown pages and 405 for other methods than GET and HEAD', async () => {
    const { read } = await start()

    expect(await read('/slack/events', 'POST')).toEqual({ status: 404, body: { error: 'Not found. Pages: /healthz, /readyz.' } })
    expect((await read('/toString')).status).toBe(404)
    expect((await read('/healthz', 'POST')).status).toBe(405)
    expect(await read('/healthz', 'HEAD')).toEqual({ status: 200, body: '' })
  })

  it('serves further pages, and answers 500 when one of them fails', async () => {
    const { read } = await start({
      pages: {
        '/numbers': async () => ({ status: 200, type: 'application/json', body: '[1]' }),
        '/broken': async () => {
          throw new Error('no numbers')
        },
      },
    })

    expect(await read('/numbers')).toEqual({ status: 200, body: [1] })
    expect(await read('/broken')).toEqual({ status: 500, body: { error: 'This page failed. See the log.' } })
  })

  it('rejects with the variable to change when another program uses it', async () => {
    const { health } = await start()

    await expect(startHealth({ port: health.port, whyNotReady: async () => undefined })).rejects.toThrow(
      `OPS_PORT ${health.port} is used by another program.`,
    )
  })

  it('closes at once while connections are open', async () => {
    const { health } = await start()
    const { port } = health
    const opened = request({ port, path: '/healthz', headers: { connection: 'keep-alive' } }).on('error', () => {})
    await new Promise((resolve) => opened.on('response', (response) => response.resume().on('end', resolve)).end())

    await health.close()
    open.splice(0)

    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed')
  })
})
