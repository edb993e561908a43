/** The distance from the end, in pixels, that still counts as reading the newest message. */
const slack = 60

/**
 * Keeps a list at its newest entry while its reader is there. Does not move it while they read further up. Call `measure` before every
 * render and `settle` after it.
 */
export function createScrolling({ selector, update }: { selector: string; update(): void }) {
  let box: HTMLElement | null = null
  let atEnd = true
  const watcher = new ResizeObserver(() => stay())

  function stay() {
    if (box && atEnd) box.scrollTop = box.scrollHeight
  }

  function measure() {
    if (!box) return
    const was = atEnd
    atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < slack
    if (was !== atEnd) update()
  }

  return {
    atEnd: () => atEnd,

    settle() {
      const found = document.querySelector<HTMLElement>(selector)
      if (found !== box) {
        box = found
        atEnd = true
        watcher.disconnect()
        if (box) {
          watcher.observe(box)
          box.addEventListener('scroll', measure, { passive: true })
          // Images load after the text around them.
          box.addEventListener('load', stay, { capture: true })
        }
      }
      stay()
    },

    toEnd() {
      atEnd = true
      stay()
      update()
    },
  }
}

export type Scrolling = ReturnType<typeof createScrolling>
