import { readFileSync } from 'node:fs'
import { isObject } from './json.ts'

type Types = Map<string, Map<string, string>>

/** Content is the bot's own: the stand-in sends it back as it got it. */
const ofTheBot = new Set(['blocks', 'metadata'])

/**
 * Names the members of an answer that the SDK does not have in its type of it, or has with another type. The SDK's types are generated from
 * answers of Slack that were recorded (slackapi/node-slack-sdk, `scripts/code_generator.rb`; slackapi/java-slack-sdk, `json-logs/samples/api`).
 */
export function unlikeSdk(method: string, answer: unknown): string[] {
  const name = `${method.replaceAll(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}Response`
  const types = readTypes(new URL(`../../../node_modules/@slack/web-api/dist/types/response/${name}.d.ts`, import.meta.url))
  return unlike(types, answer, name, method)
}

function readTypes(file: URL): Types {
  const declared = readFileSync(file, 'utf8').matchAll(/^export (?:type|interface) (\w+)[^{]*\{\n([\s\S]*?)^\};?$/gm)
  return new Map(
    [...declared].map(([, name = '', body = '']) => {
      const members = body.matchAll(/^ {4}(\w+)\?: (.+);$/gm)
      return [name, new Map([...members].map(([, member = '', type = '']) => [member, type]))]
    }),
  )
}

/** Recorded members are null where there is nothing, and the types do not say so. */
function unlike(types: Types, value: unknown, type: string, at: string): string[] {
  if (value === null || value === undefined) return []
  if (type.endsWith('[]')) return Array.isArray(value) ? value.flatMap((item) => unlike(types, item, type.slice(0, -2), `${at}[]`)) : [at]
  const members = types.get(type)
  if (members === undefined) return /^(string|number|boolean)$/.test(type) && typeof value !== type ? [at] : []
  if (!isObject(value)) return [at]
  return Object.entries(value).flatMap(([name, inner]) => {
    if (ofTheBot.has(name) && members.has(name)) return []
    const declared = members.get(name)
    return declared === undefined ? [`${at}.${name}`] : unlike(types, inner, declared, `${at}.${name}`)
  })
}
