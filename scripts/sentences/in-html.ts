import { hasLetters, oneLine } from './sentence.ts'

/** The attributes whose values people see or hear. */
const spoken = /\s(?:title|placeholder|alt|aria-label|aria-description)="([^"]*)"/g

/** Returns the texts of HTML: what stands between its tags, and the attributes that are shown or read aloud. */
export function textsOfHtml(html: string): string[] {
  const attributes = [...html.matchAll(spoken)].map(([, value = '']) => value)
  const shown = html
    .replace(/<!--[\s\S]*?-->|<(style|script|svg)\b[\s\S]*?<\/\1>/g, '\n')
    .replace(/<\/?(?:b|i|em|strong|code|kbd|a|span)\b[^>]*>/g, '')
    .split(/<[^>]*>/)
  return [...attributes, ...shown].map(oneLine).filter((text) => hasLetters(text.replace(/\{[^}]*\}/g, '')))
}
