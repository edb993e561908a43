import type { Logger } from '@slack/bolt'
import { App, type AppOptions, SocketModeReceiver } from '@slack/bolt'
import type { WebClientOptions } from '@slack/web-api'
import { portTaken, StartError } from '../domain/errors.ts'
import type { Secret } from '../domain/secret.ts'
import { httpReceiver } from './http-receiver.ts'
import { measuredFetch, type OnSlackCall } from './measured-fetch.ts'
import { type Screening, screen } from './screen.ts'
import { readEveryEnvelope } from './socket-envelopes.ts'

export interface SlackSettings {
  botToken: Secret
  signingSecret: Secret | undefined
  /** Socket Mode instead of HTTP when given. */
  appToken: Secret | undefined
  apiUrl: URL
  port: number
}

/**
 * How the Web API is called everywhere: one try, with a deadline. The client's own retries would post twice when an answer is
 * lost, and one 429 would hold up every other call.
 */
export function webClientOptions(apiUrl: URL, logger: Logger, onCall: OnSlackCall = () => {}): WebClientOptions {
  return {
    slackApiUrl: apiUrl.href.endsWith('/') ? apiUrl.href : `${apiUrl.href}/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: 5_000,
    allowAbsoluteUrls: false,
    fetch: measuredFetch(onCall),
    logger,
  }
}

/**
 * The Bolt app for either transport, without listeners, and how it starts. `identity` is the bot's own, asked for once by the caller. What
 * a listener could not read never reaches it: see `screen`.
 */
export function createBoltApp(
  settings: SlackSettings,
  identity: { botId: string; botUserId: string },
  logger: Logger,
  { onCall = () => {}, ...screening }: Screening & { onCall?: OnSlackCall },
) {
  const refused = Promise.withResolvers<never>()
  // A refusal may come after the start, when nobody waits for it.
  refused.promise.catch(() => {})
  const clientOptions = webClientOptions(settings.apiUrl, logger, (call) => {
    onCall(call)
    if (call.method === 'apps.connections.open' && call.error !== undefined) refused.reject(socketRefusal(call.error))
  })
  const onNull = () => screening.onUntaken({ kind: 'null', why: 'unheard' })
  const receiver = settings.appToken
    ? socketReceiver(settings.appToken, clientOptions, logger)
    : httpReceiver({ signingSecret: settings.signingSecret?.reveal() ?? '', port: settings.port, logger, onNull })
  const options: AppOptions = {
    receiver: screen(receiver, screening),
    authorize: async () => ({ botToken: settings.botToken.reveal(), ...identity }),
    clientOptions,
    logger,
    convoStore: false,
    deferInitialization: true,
  }
  const app = new App(options)

  /**
   * Starts to listen, and gives the port in HTTP mode. In Socket Mode it waits while Slack is away. Throws StartError with what to do when the
   * port is taken or Slack refuses Socket Mode, after which Slack's client would often go on asking.
   */
  async function start(): Promise<number | undefined> {
    await app.init()
    const started = app.start().catch((error: { code?: unknown }) => {
      throw error.code === 'EADDRINUSE' ? portTaken('PORT', settings.port) : error
    })
    const server: unknown = await Promise.race([started, refused.promise])
    const address = (server as { address?: () => { port?: number } | string | null } | undefined)?.address?.()
    return typeof address === 'object' && address !== null ? address.port : undefined
  }

  return { app, start }
}

function socketRefusal(error: string): StartError {
  return new StartError(
    `Slack does not open Socket Mode (${error}). Check SLACK_APP_TOKEN, its scope connections:write, and that Socket Mode is turned on.`,
  )
}

function socketReceiver(appToken: Secret, clientOptions: WebClientOptions, logger: Logger): SocketModeReceiver {
  const receiver = new SocketModeReceiver({
    appToken: appToken.reveal(),
    logger,
    // Reconnecting is tried for weeks: a client that gives up leaves a bot that runs and hears nobody.
    installerOptions: { clientOptions: { ...clientOptions, retryConfig: { retries: 50_000, factor: 1.5, maxTimeout: 30_000 } } },
  })
  readEveryEnvelope(receiver.client)
  return receiver
}
