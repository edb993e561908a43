import type { Answer, FoundOptions } from './api.ts'
import type { Option } from './block-shapes.ts'

/** Options under their headings; options without a heading stand under an empty one. */
export interface OptionSection {
  heading: string
  options: Option[]
}

export type OptionSource =
  | { kind: 'given'; sections: OptionSection[] }
  | { kind: 'asked'; minQuery: number; ask(query: string): Promise<Answer<FoundOptions>> }

export function sectionsOf(found: Pick<FoundOptions, 'options' | 'option_groups'>): OptionSection[] {
  const groups = (found.option_groups ?? []).map(({ label, options }) => ({ heading: label.text, options }))
  return groups.length > 0 ? groups : [{ heading: '', options: found.options ?? [] }]
}

export function filterSections(sections: OptionSection[], query: string): OptionSection[] {
  const words = query.toLowerCase().split(/\s+/)
  const fits = ({ text, description }: Option) => {
    const haystack = `${text.text} ${description?.text ?? ''}`.toLowerCase()
    return words.every((word) => haystack.includes(word))
  }
  return sections.map(({ heading, options }) => ({ heading, options: options.filter(fits) })).filter(({ options }) => options.length > 0)
}
