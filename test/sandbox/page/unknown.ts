import { html, type TemplateResult } from 'lit-html'

/** What this page cannot draw is shown as it came, so that nobody takes its absence for the truth. */
export function unknownThing(what: 'block' | 'element', thing: { type?: string }): TemplateResult {
  return html`<details class="unknown" open>
    <summary>Unknown ${what}: ${thing.type ?? 'without a type'}</summary>
    <pre>${JSON.stringify(thing, undefined, 2)}</pre>
  </details>`
}
