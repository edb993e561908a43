import { render, type TemplateResult } from 'lit-html'

/** Renders the page, once for all changes of one turn. */
export function createPainter() {
  let paint = () => {}
  let isDue = false

  return {
    update() {
      if (isDue) return
      isDue = true
      queueMicrotask(() => {
        isDue = false
        paint()
      })
    },

    /** `settle` is called after every render. */
    start(page: () => TemplateResult, settle: () => void) {
      paint = () => {
        render(page(), document.body)
        settle()
      }
    },
  }
}
