import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { StandInCalls } from './stand-ins-process.ts'

const program = fileURLToPath(new URL('./stand-ins-process.ts', import.meta.url))

interface Reply {
  ready?: boolean
  id?: number
  value?: unknown
  error?: string
}

export interface StandInOptions {
  elasticIps: number
  /** How many Elastic IPs each server has that can be evacuated: `rack-0`, `rack-1` and so on. */
  onRacks?: number[]
  /** In ms. */
  moveTakes: { min: number; max: number }
  seed: number
}

/** Starts the stand-ins as a separate process, and calls them. They end with this process. */
export async function startStandIns(options: StandInOptions) {
  const child = fork(program, [JSON.stringify(options)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  const ready = Promise.withResolvers<void>()
  let last = 0
  child.on('message', (reply: Reply) => {
    if (reply.ready) return ready.resolve()
    const call = waiting.get(reply.id ?? 0)
    waiting.delete(reply.id ?? 0)
    if (reply.error === undefined) call?.resolve(reply.value)
    else call?.reject(new Error(reply.error))
  })
  child.once('exit', (code) => {
    const gone = new Error(`the stand-ins ended with ${code}`)
    ready.reject(gone)
    for (const call of waiting.values()) call.reject(gone)
  })
  await ready.promise

  function call<Name extends keyof StandInCalls>(name: Name, ...args: Parameters<StandInCalls[Name]>) {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    last += 1
    waiting.set(last, { resolve, reject })
    child.send({ id: last, name, args })
    return promise as Promise<Awaited<ReturnType<StandInCalls[Name]>>>
  }

  return { call, stop: () => void child.disconnect() }
}
export type StandIns = Awaited<ReturnType<typeof startStandIns>>
