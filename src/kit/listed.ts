import { z } from 'zod'
import type { Fact } from '../domain/change.ts'
import type { List } from '../domain/list.ts'
import { moment, phrase } from '../domain/text.ts'
import { readBriefly } from './thing.ts'

/** Adds what the shared list had of a thing that could not be read now. People judge by it, and no rule and no write does. `at`: in ms since 1970. */
export function withListed<Shape extends z.ZodRawShape>(facts: z.ZodObject<Shape>) {
  return facts.extend({ listed: facts.extend({ at: z.number() }).optional() })
}

/** The facts as people see them. */
export function shownFacts<Facts extends { listed?: object | undefined }>(facts: Facts): Facts {
  return { ...facts, ...facts.listed }
}

export function listedFact({ listed }: { listed?: { at: number } | undefined }): Fact[] {
  return listed ? [{ label: 'As of', value: phrase`${moment(listed.at)}` }] : []
}

/** Finds a thing in the shared list, however old that is, and when the list was read. A failure prevents no request. */
export async function findListed<Item extends { id: string }>(reading: Promise<List<Item>> | undefined, id: string) {
  const list = reading && (await readBriefly(reading))
  const item = list?.items.find((each) => each.id === id)
  return item && { item, items: list?.items ?? [], at: list?.readAt ?? Date.now() - (list?.old?.agoMs ?? 0) }
}
