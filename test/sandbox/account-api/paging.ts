import type { Answer } from './answer.ts'
import { refusal } from './answer.ts'

/** Returns one page like the account API: 20 items by default, and an empty page after the end. Only some lists tell their total. */
export function pageOf(items: unknown[], query: Record<string, string>, maxPageSize: number, { hasTotal = false } = {}): Answer {
  const size = Math.min(positive(query, 'page[size]', 20), maxPageSize)
  const start = (positive(query, 'page[number]', 1) - 1) * size
  const meta = hasTotal && query['stats[total]'] === 'count' ? { stats: { total: { count: items.length } } } : {}
  return { status: 200, body: { data: items.slice(start, start + size), meta } }
}

function positive(query: Record<string, string>, name: string, otherwise: number): number {
  const value = Number(query[name] ?? otherwise)
  if (Number.isInteger(value) && value > 0) return value
  throw refusal(400, 'INVALID_PARAMETER', `${name} is not a positive whole number`)
}
