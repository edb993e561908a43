import type { Logger } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import type { Redis } from 'ioredis'
import { createAccountApi } from './account-api/client.ts'
import { createInventory } from './account-api/inventory.ts'
import { createAccess } from './changes/access.ts'
import { createAsk } from './changes/ask.ts'
import { createAttend } from './changes/attend.ts'
import { createCatalog } from './changes/catalog.ts'
import { findRedisFaults } from './changes/check-redis.ts'
import { createConversation } from './changes/conversation.ts'
import { createDecide } from './changes/decide.ts'
import { createDeliver } from './changes/deliver.ts'
import { createDeliveries } from './changes/deliveries.ts'
import { createExecute } from './changes/execute.ts'
import { createFollow } from './changes/follow.ts'
import { createKeys } from './changes/keys.ts'
import { createOutbox } from './changes/outbox.ts'
import { closeRedis, connectRedis } from './changes/redis.ts'
import { createRenderer } from './changes/render.ts'
import { createStore } from './changes/store.ts'
import { createTellOperators } from './changes/tell-operators.ts'
import { createQueues, createWatch } from './changes/watch.ts'
import { refusedCard } from './changes/words.ts'
import type { Config } from './config.ts'
import { ApiError, UserError } from './domain/errors.ts'
import type { Feature } from './features/feature.ts'
import { createFeatures } from './features/index.ts'
import { startHealth } from './ops/health.ts'
import { type Log, slackLogger } from './ops/log.ts'
import { createBoltApp, webClientOptions } from './slack/app.ts'
import { createCommandRouter } from './slack/commands.ts'
import { createDirectory } from './slack/directory.ts'
import { classifySlackFailure } from './slack/failure.ts'
import { createFormOpener } from './slack/form.ts'
import type { Interactions } from './slack/interaction.ts'
import { listen } from './slack/listen.ts'
import { createMessenger } from './slack/messenger.ts'
import { notice } from './slack/notice.ts'
import { createResponder } from './slack/response-url.ts'
import { mrkdwn } from './slack/text.ts'

/** Why the bot cannot start: a sentence for whoever runs it. */
export class StartError extends Error {
  override name = 'StartError'
}

/** How long the first contact with Redis and Slack may take. */
const contactMs = 10_000

/** Work that was handed over or is repeated by others anyway is not waited for longer than this. */
const shutdownMs = 8_000

/** Builds the whole bot from its configuration: the one place that knows every part. */
export function createBot(config: Config, { log }: { log: Log }) {
  const keys = createKeys(config.redis.prefix)
  let redisProblem: string | undefined
  const warnOfRedis = throttled((problem: string) => log.warn({ problem }, 'Redis does not answer'))
  function onRedisError(problem: string): void {
    redisProblem = problem
    warnOfRedis(problem)
  }
  const prompt = connectRedis(config.redis.url, 'prompt', onRedisError)
  const patient = connectRedis(config.redis.url, 'patient', onRedisError)

  const logger = slackLogger(log) as Logger
  const client = new WebClient(config.slack.botToken.reveal(), { ...webClientOptions(config.slack.apiUrl, logger) })
  let identity: { botId: string; botUserId: string } | undefined
  const messenger = createMessenger({ client, botUserId: () => identity?.botUserId })
  const directory = createDirectory({ client })
  const respond = createResponder({ allowedOrigins: responseOrigins(config.slack.apiUrl) })

  const accountApi = createAccountApi({
    baseUrl: config.infra.url,
    key: config.infra.key,
    onCall: (call) => log.debug(call, 'account API'),
    onSkipped: (skipped) => log.warn(skipped, 'items of a list did not fit the schema and were left out'),
  })
  const tellOperators = createTellOperators({
    redis: prompt,
    keys,
    messenger,
    channelId: config.opsChannel,
    log: (problem) => log.error(problem),
  })

  function onApiError(error: unknown): void {
    if (error instanceof UserError) return
    log.warn({ error }, 'account API')
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
      void tellOperators(
        'api-key-rejected',
        notice(
          mrkdwn`:warning: The account API rejects my API key (${error.status}, ${error.operation}). Nothing can be carried out or followed until INFRA_API_KEY is valid again; what is under way is kept and resumes by itself.`,
        ),
      )
    }
  }

  const access = createAccess({ people: directory, rules: config.rules })
  const catalog = createCatalog(() => features.flatMap((feature) => feature.changes ?? []))
  const render = createRenderer({
    catalog,
    approvers: config.rules.approvers,
    environment: config.environment,
    moveTimeoutMs: config.moveTimeoutMs,
  })
  const onError = (error: unknown) => log.error({ error }, 'jobs')

  /** Everything that works on requests, over one connection: handlers must fail at once while Redis is away, jobs must wait for it. */
  function createRequests(redis: Redis) {
    const store = createStore({ redis, keys })
    const outbox = createOutbox({ redis, keys })
    const queues = createQueues({ redis, keys, pollIntervalMs: config.movePollIntervalMs, onError: throttled(onError) })
    const deliver = createDeliver({
      store,
      outbox,
      messenger,
      render,
      onUndeliverable: (request, error) =>
        void tellOperators(
          `undeliverable:${request.id}`,
          notice(
            mrkdwn`:warning: A message about request ${request.id} (${request.state}) can be delivered neither to its channel nor to its requester: ${error}.`,
          ),
        ),
    })
    const execute = createExecute({ store, catalog, onApiError })
    const follow = createFollow({
      store,
      catalog,
      pollIntervalMs: config.movePollIntervalMs,
      lateAfterMs: config.moveTimeoutMs,
      onApiError,
    })
    const attend = createAttend({
      store,
      outbox,
      deliver,
      execute,
      follow,
      onCardRefused: async (request, error) => {
        await store.discard(request)
        await messenger.post({ channelId: request.origin.userId }, notice(refusedCard(error)))
      },
    })
    return { redis, store, outbox, queues, deliver, attend, follow }
  }

  const forPeople = createRequests(prompt)
  const forJobs = createRequests(patient)

  const { store, deliver, queues, attend } = forPeople
  const ask = createAsk({ store, access, deliver, wake: queues.wake, approvalTtlMs: config.approvalTtlMs })
  const features: Feature[] = createFeatures({ accountApi, inventory: createInventory(accountApi), ask, store, catalog })
  const interactions = createInteractions()
  const watch = createWatch({ ...forJobs, keys, onError })

  function createInteractions(): Interactions {
    const openForm = createFormOpener(messenger)
    const router = createCommandRouter({
      commands: features.flatMap((feature) => feature.commands),
      gate: access.gate,
      may: access.may,
      openForm,
    })
    const decide = createDecide({ store, access, show: attend.showEverything, wake: queues.wake })
    const forms = Object.assign({}, ...features.map((feature) => feature.forms ?? {}))
    const conversation = createConversation({ decide, ask, catalog, access, openForm, forms })
    return {
      command: router.command,
      clicks: Object.assign({}, router.clicks, conversation.clicks, ...features.map((feature) => feature.clicks ?? {})),
      submissions: Object.assign({}, conversation.submissions, ...features.map((feature) => feature.submissions ?? {})),
      options: Object.assign({}, ...features.map((feature) => feature.options ?? {})),
    }
  }

  async function checkRedis(): Promise<void> {
    const faults = await withinContact(findRedisFaults(patient)).catch(() => {
      throw new StartError(
        `Redis does not answer at REDIS_URL (${redisProblem ?? 'no answer'}). Check that it runs, that the address and the password are right, and that this machine may reach it.`,
      )
    })
    if (faults.length > 0 && !config.redis.allowVolatile) {
      throw new StartError(`${faults.join(' ')} To start all the same, in development only, set ALLOW_VOLATILE_REDIS=true.`)
    }
    for (const fault of faults) log.warn(fault)
  }

  async function introduce(): Promise<{ botId: string; botUserId: string }> {
    try {
      const answer = await client.auth.test()
      return { botId: String(answer.bot_id), botUserId: String(answer.user_id) }
    } catch (thrown) {
      const failure = classifySlackFailure(thrown)
      if (failure.is === 'refused')
        throw new StartError(`Slack rejects SLACK_BOT_TOKEN (${failure.error}). Copy the Bot User OAuth Token of the installed app again.`)
      throw new StartError(
        `Slack does not answer at ${config.slack.apiUrl.origin}. Check that this machine may reach it, then start again.`,
      )
    }
  }

  /** Tells at once what every later request would meet; a bot that follows moves starts all the same and waits for a valid key. */
  async function checkAccountApi(): Promise<void> {
    try {
      await accountApi.apiKeys.list({ signal: AbortSignal.timeout(contactMs) })
    } catch (error) {
      onApiError(error)
    }
  }

  let stopping: (() => Promise<void>)[] = []

  async function start(): Promise<{ opsPort: number; slackPort: number | undefined }> {
    await checkRedis()
    identity = await introduce()
    void checkAccountApi()
    let slackPort: number | undefined
    if (config.role !== 'worker') {
      const app = createBoltApp(config.slack, identity, logger)
      const listening = listen(app, {
        interactions,
        messenger,
        respond,
        isFirstDelivery: createDeliveries({ redis: prompt, keys }),
        onError: (error, context) =>
          error instanceof UserError
            ? log.info({ ...context, error }, 'refused')
            : log.error({ ...context, error }, 'a person was told of an error'),
      })
      app.error(async (error) => log.error({ error }, 'Slack'))
      await app.init()
      const server: unknown = await app.start()
      slackPort = portOf(server)
      stopping.push(async () => {
        await app.stop()
        await listening.settle()
      })
    }
    if (config.role !== 'web') {
      watch.start()
      stopping.push(watch.stop)
    }
    const health = await startHealth({
      port: config.opsPort,
      checks: {
        redis: async () => void (await prompt.ping()),
        slack: async () => void (await client.auth.test()),
      },
    })
    stopping.push(health.close)
    log.info(
      { role: config.role, transport: config.slack.appToken ? 'socket mode' : 'http', slackPort, opsPort: health.port() },
      'Lockkeeper is ready',
    )
    return { opsPort: health.port(), slackPort }
  }

  /** Takes nothing new, lets what is under way end for a few seconds, and leaves the rest to the next process. */
  async function stop(): Promise<void> {
    const steps = stopping
    stopping = []
    await Promise.race([Promise.allSettled(steps.map((step) => step())), delay(shutdownMs)])
    await Promise.race([Promise.allSettled([forPeople.queues.close(), forJobs.queues.close(), accountApi.close()]), delay(1_000)])
    await Promise.allSettled([closeRedis(prompt), closeRedis(patient)])
  }

  return { start, stop, interactions }
}
export type Bot = ReturnType<typeof createBot>

/** Slack's own response addresses are on another host than its Web API; a stand-in's are on the same. */
function responseOrigins(apiUrl: URL): string[] {
  return [apiUrl.origin, 'https://hooks.slack.com', 'https://hooks.slack-gov.com']
}

function portOf(server: unknown): number | undefined {
  const address = (server as { address?: () => { port?: number } | string | null } | undefined)?.address?.()
  return typeof address === 'object' && address !== null ? address.port : undefined
}

async function withinContact<T>(work: Promise<T>): Promise<T> {
  return Promise.race([work, delay(contactMs).then(() => Promise.reject(new Error('no answer')))])
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}

/** The first of a kind of trouble, and then one every few seconds: connections repeat theirs at every attempt. */
function throttled<T>(report: (trouble: T) => void): (trouble: T) => void {
  let quietUntil = 0
  return (trouble) => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + 5_000
    report(trouble)
  }
}
