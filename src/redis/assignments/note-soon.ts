import type { ElasticIp } from '../../domain/account/elastic-ip.ts'

interface NoteSoonParts {
  note: (seen: ElasticIp[]) => Promise<void>
  onError: (error: unknown) => void
  /** How long single reads are collected, in ms. Each note writes the whole list. */
  afterMs?: number
}

/**
 * Creates the function that notes the server of an Elastic IP that was read by itself or in a part of the list, together with others. Such a read
 * confirms each move, so a server that dies soon after is known to have the address, although no whole list has shown it there yet.
 */
export function createNoteSoon({ note, onError, afterMs = 5_000 }: NoteSoonParts) {
  const seen = new Map<string, ElasticIp>()
  let timer: NodeJS.Timeout | undefined

  function noteAll(): void {
    timer = undefined
    const all = [...seen.values()]
    seen.clear()
    note(all).catch(onError)
  }

  return function noteSoon(elasticIp: ElasticIp): void {
    // While it moves, the server can be the one before or the one after.
    if (!elasticIp.server || elasticIp.status !== 'active') return
    seen.set(elasticIp.id, elasticIp)
    if (timer === undefined) timer = setTimeout(noteAll, afterMs).unref()
  }
}
