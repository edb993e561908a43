import { WebClient } from '@slack/web-api'
import { type ConnectionOptions, DelayedError, Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { Pool } from 'undici'

/**
 * The base for tracking: one BullMQ job for each move, which reads its Elastic IP and delays itself until the next read. At the end it
 * updates a card and posts a report, without records, an audit or safety against crashes. It is a program, so that its CPU time can be
 * measured separately.
 */
const { redisUrl, account, slack, count, intervalMs } = JSON.parse(process.argv[2] ?? '{}') as {
  redisUrl: string
  account: string
  slack: string
  count: number
  intervalMs: number
}
const redis = new Redis(redisUrl, { maxRetriesPerRequest: null })
const connection = redis as ConnectionOptions
const pool = new Pool(account, { connections: 64 })
const client = new WebClient('xoxb-bench', { slackApiUrl: slack, retryConfig: { retries: 0 } })

async function readElasticIp(id: string): Promise<{ status: string; address: string }> {
  const { body } = await pool.request({ method: 'GET', path: `/elastic_ips/${id}` })
  const { data } = (await body.json()) as { data: { attributes: { status: string; address: string } } }
  return data.attributes
}

const worker = new Worker(
  'moves',
  async (job, token) => {
    const { status, address } = await readElasticIp(job.data.id)
    if (status !== 'active') {
      await job.moveToDelayed(Date.now() + intervalMs, token)
      throw new DelayedError()
    }
    const text = `*Done.* \`${address}\` is assigned to \`web-2\`.`
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text } }]
    await client.chat.postMessage({ channel: 'C1', thread_ts: '1.1', text, blocks })
    await client.chat.update({ channel: 'C1', ts: '1.1', text, blocks })
  },
  { connection, concurrency: 200 },
)
worker.on('error', () => {})
const queue = new Queue('moves', { connection })
process.on('message', async () => {
  const jobs = Array.from({ length: count }, (_, index) => ({
    name: 'move',
    data: { id: `eip_${String(index).padStart(13, '0')}` },
    opts: { delay: Math.floor((index / count) * intervalMs), removeOnComplete: true, removeOnFail: true },
  }))
  for (let at = 0; at < jobs.length; at += 500) await queue.addBulk(jobs.slice(at, at + 500))
  process.send?.('begun')
})
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
