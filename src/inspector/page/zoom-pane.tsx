/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Place {
  scale: number;
  x: number;
  y: number;
}

interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

const margin = 12;
const most = 1.3;
const least = 0.2;
/** Smaller than this nothing can be read: then the place in question is shown, not all. */
const readable = 0.5;
const comfortable = 0.75;

interface ZoomPaneProps {
  /** Of the drawings to choose from: the one that fits best is shown. */
  sizes: readonly { width: number; height: number }[];
  /** What is to be in sight. */
  focusOf: (index: number) => Rect | undefined;
  children: (index: number) => ComponentChildren;
}

/** Holds a drawing: it fits at first; the wheel with Ctrl or the buttons zoom, dragging moves. */
export const ZoomPane = ({ sizes, focusOf, children }: ZoomPaneProps) => {
  const pane = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<Place>({ scale: 1, x: 0, y: 0 });
  const [chosen, setChosen] = useState(0);
  const [isMoved, setMoved] = useState(false);
  const drag = useRef<{ x: number; y: number; place: Place } | undefined>(undefined);
  const focus = focusOf(chosen);

  const fit = (): void => {
    const box = pane.current;
    if (box === null) return;
    const [width, height] = [box.clientWidth - 2 * margin, box.clientHeight - 2 * margin];
    const scales = sizes.map((size) => Math.min(most, width / size.width, height / size.height));
    const index = scales.indexOf(Math.max(...scales));
    const size = sizes[index] ?? { width: 1, height: 1 };
    const wanted = focusOf(index);
    setChosen(index);
    if ((scales[index] ?? 1) < readable && wanted !== undefined) {
      setPlace({
        scale: comfortable,
        x: box.clientWidth / 2 - (wanted.x + wanted.width / 2) * comfortable,
        y: box.clientHeight / 2 - (wanted.y + wanted.height / 2) * comfortable,
      });
      return;
    }
    const scale = Math.max(least, scales[index] ?? 1);
    setPlace({ scale, x: (box.clientWidth - size.width * scale) / 2, y: (box.clientHeight - size.height * scale) / 2 });
  };
  useLayoutEffect(() => {
    if (!isMoved) fit();
  }, [sizes.length, sizes[0]?.width, sizes[0]?.height, focus?.x, focus?.y]);
  useEffect(() => {
    if (isMoved || pane.current === null) return;
    const observer = new ResizeObserver(fit);
    observer.observe(pane.current);
    return () => observer.disconnect();
  }, [isMoved, sizes[0]?.width, sizes[0]?.height, focus?.x, focus?.y]);

  const zoom = (factor: number, at?: { x: number; y: number }): void => {
    const box = pane.current;
    if (box === null) return;
    setMoved(true);
    const middle = at ?? { x: box.clientWidth / 2, y: box.clientHeight / 2 };
    setPlace((before) => {
      const scale = Math.max(least, Math.min(3, before.scale * factor));
      const ratio = scale / before.scale;
      return { scale, x: middle.x - (middle.x - before.x) * ratio, y: middle.y - (middle.y - before.y) * ratio };
    });
  };
  const onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) {
      const box = pane.current?.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 200), { x: event.clientX - (box?.left ?? 0), y: event.clientY - (box?.top ?? 0) });
      return;
    }
    setMoved(true);
    setPlace((before) => ({ ...before, x: before.x - event.deltaX, y: before.y - event.deltaY }));
  };
  const onPointerMove = (event: PointerEvent): void => {
    const from = drag.current;
    if (from === undefined) return;
    setMoved(true);
    setPlace({ ...from.place, x: from.place.x + event.clientX - from.x, y: from.place.y + event.clientY - from.y });
  };

  return (
    <div
      class="zoom-pane"
      ref={pane}
      onWheel={onWheel}
      onPointerDown={(event) => {
        if (event.button === 0) drag.current = { x: event.clientX, y: event.clientY, place };
      }}
      onPointerMove={onPointerMove}
      onPointerUp={() => (drag.current = undefined)}
      onPointerLeave={() => (drag.current = undefined)}
    >
      <div class="zoomed" style={{ transform: `translate(${place.x}px, ${place.y}px) scale(${place.scale})` }}>
        {children(chosen)}
      </div>
      <div class="zoom-buttons" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom out" onClick={() => zoom(0.8)}>
          −
        </button>
        <button
          type="button"
          aria-label="Fit"
          onClick={() => {
            setMoved(false);
            fit();
          }}
        >
          fit
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => zoom(1.25)}>
          +
        </button>
      </div>
    </div>
  );
};
