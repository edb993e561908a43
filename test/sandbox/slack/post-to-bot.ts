import { request as httpRequest } from 'node:http'

export type Posted = { outcome: 'answered'; status: number; body: string } | { outcome: 'timeout' } | { outcome: 'unreachable' }

/** Sends one POST with exactly these headers. After `deadlineMs` Slack closes the connection. */
export function postToBot(url: string, headers: Record<string, string>, body: string, deadlineMs: number): Promise<Posted> {
  return new Promise((resolve) => {
    const request = httpRequest(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      agent: false,
    })
    const deadline = setTimeout(() => {
      resolve({ outcome: 'timeout' })
      request.destroy()
    }, deadlineMs)
    const end = (posted: Posted) => {
      clearTimeout(deadline)
      resolve(posted)
    }
    request.on('error', () => end({ outcome: 'unreachable' }))
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', () => end({ outcome: 'unreachable' }))
      response.on('end', () => {
        end({ outcome: 'answered', status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') })
      })
    })
    request.end(body)
  })
}
