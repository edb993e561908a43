import type { Dispatcher, Pool } from 'undici'
import type { KeyVariable } from '../../domain/account/api-key.ts'
import { ApiContractError, ApiError, ApiUnreachableError } from '../../domain/errors/api-errors.ts'
import { AnswerTooLongError } from '../../domain/errors/list-errors.ts'
import type { Secret } from '../../domain/signing/secret.ts'
import type { HttpCall } from './call.ts'
import { bodyProblem, headProblem } from './contract-problem.ts'
import type { Deadline } from './deadline.ts'
import { readErrorAnswer } from './error-answer.ts'
import { parseRetryAfter } from './retry.ts'
import { codeOf, wasRequestSent } from './unreachable.ts'

/** A page of 100 Elastic IPs has about 80 KB, and the unpaged list of 500 plans 1 to 2 MB. The limit leaves room to grow. */
export const maxResponseBytes = 8 * 1024 * 1024
interface ExchangeParts {
  pool: Pool
  baseUrl: URL
  /** Undefined if this process does not have it. Its calls then throw. */
  key: Secret | undefined
  /** The variable that holds it. */
  name: KeyVariable
}

/**
 * Creates the exchange of one request for one answer. It throws ApiError for a status of 400 or more, ApiContractError for an answer that
 * does not fit, and ApiUnreachableError if no answer came.
 */
export function createExchange({ pool, baseUrl, key, name }: ExchangeParts) {
  const prefix = baseUrl.pathname.replace(/\/+$/, '')
  const redact = (text: string) => (key ? text.replaceAll(key.reveal(), '[redacted]') : text)

  return async function exchange<T>(request: HttpCall<T>, deadline: Deadline): Promise<{ status: number; value: T }> {
    const { operation } = request
    if (!key) throw new Error(`${operation} needs ${name}, which this process does not have`)
    const answer = await send(request, key, deadline).catch((error: unknown) => {
      throw unreachable(operation, error, deadline, wasRequestSent(error))
    })
    const { statusCode: status, headers } = answer
    if (status >= 400) throw await toApiError(operation, answer)

    const empty = status === 204 || headers['content-length'] === '0'
    const problem = headProblem(status, headers, empty && request.mayBeEmpty === true)
    if (problem) {
      abandon(answer)
      throw new ApiContractError({ operation, status, problem })
    }
    const body = await readBody(answer, request.mostBytes).catch((error: unknown) => {
      if (error instanceof RangeError) throw new AnswerTooLongError({ operation, status, most: request.mostBytes ?? maxResponseBytes })
      throw unreachable(operation, error, deadline, 'unknown')
    })
    try {
      return { status, value: request.read(empty ? undefined : JSON.parse(body), body.length) }
    } catch (error) {
      throw new ApiContractError({ operation, status, problem: bodyProblem(error) })
    }
  }

  function send({ method, path, body }: HttpCall<unknown>, authorization: Secret, deadline: Deadline) {
    return pool.request({
      method,
      path: `${prefix}${path}`,
      headers: {
        authorization: authorization.reveal(),
        accept: 'application/vnd.api+json, application/json',
        // Without this header, HTTP allows any encoding, and a small compressed answer can fill the memory once it is decompressed.
        'accept-encoding': 'identity',
        'api-version': '2023-06-01',
        'user-agent': 'lockkeeper',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: deadline.signal,
    })
  }

  async function toApiError(operation: string, { statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<ApiError> {
    // If the body does not arrive, the status is enough.
    const text = await body.text().catch(() => '')
    const retryAfterMs = parseRetryAfter(headers['retry-after'], headers.date)
    return new ApiError({
      operation,
      status,
      key: name,
      ...readErrorAnswer(text, redact),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
  }
}

/** Reads a body as text. Throws a RangeError if it has more than `most` bytes. */
async function readBody(answer: Dispatcher.ResponseData, most = maxResponseBytes): Promise<string> {
  const declared = Number(answer.headers['content-length'] ?? Number.NaN)
  if (declared > most) {
    abandon(answer)
    throw new RangeError('longer than requested')
  }
  // The pool ends bodies of more than 8 MB, and none is longer than its content-length.
  if (declared <= most || most >= maxResponseBytes) return answer.body.text().catch(asTooLong)
  const parts: Buffer[] = []
  let size = 0
  for await (const part of answer.body as AsyncIterable<Buffer>) {
    size += part.length
    if (size > most) throw new RangeError('longer than requested')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function asTooLong(error: unknown): never {
  throw codeOf(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? new RangeError('longer than 8 MB') : error
}

/** Ends the connection of an unwanted body. Otherwise a body that keeps arriving slowly would occupy the connection forever. */
function abandon({ body }: Dispatcher.ResponseData) {
  body.on('error', () => {}).destroy()
}

function unreachable(operation: string, error: unknown, deadline: Deadline, requestSent: 'no' | 'unknown') {
  const ended = deadline.problem()
  if (ended !== undefined) return new ApiUnreachableError({ operation, requestSent: 'unknown', problem: ended })
  return new ApiUnreachableError({ operation, requestSent, problem: codeOf(error) })
}
