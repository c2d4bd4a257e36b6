// The graph of commands: drawn, as a list, and node by node.

import { LitElement, html, nothing } from 'lit';
import cytoscape from 'cytoscape';
import { change, get, query, segment, sendJson, stringify, subscribe } from './http.js';
import { bulkLink } from './bulk.js';
import { compareNames, count, duration, moment, tone } from './format.js';
import { layered } from './layout.js';
import {
  ACTIONS, View, ask, attempt, attemptHistory, brief, button, chooser, chosenBar, commandLine, define, edit, empty,
  facts, field, head, href, json, link, reasons, select, status, table, time,
} from './view.js';

const nodePath = id => `v1/nodes/${segment(id)}`;
const STATES = ['incipient', 'ready', 'running', 'finished', 'failed', 'killed', 'skipped', 'blocked'];
const MAX_ROWS = 200;

/** The keys of its data that a node writes itself. */
const WRITTEN = ['result', 'stdout', 'stderr', 'mixedout', 'job', 'task', 'status'];

/** How many elements are added to a drawing at once. */
const PART = 1000;

const nodeActions = [
  { text: 'Retry', past: 'offered again', action: id => change('POST', `${nodePath(id)}/retry`) },
  { text: 'Kill', past: 'told to end', action: id => change('PUT', `v1/scheduler/kill${query({ id })}`), kind: 'danger' },
  { text: 'Remove', past: 'removed', action: id => change('DELETE', nodePath(id)), kind: 'danger' },
];

/** The filters of the address, in the language of bulk actions; a text has no counterpart there. */
const wantedNodes = ({ state, below }) => ({
  ...(state && { state }),
  ...(below && { $or: [{ id: below }, { below }] }),
});

const idsIn = text => text.split(',').map(id => id.trim()).filter(Boolean);

/** Asks for another node like one, with changes. */
const submitLike = (node, values) =>
  edit(
    'New node',
    [
      { name: 'name', label: 'Name', value: node.name },
      {
        name: 'data', label: 'Data (JSON)', kind: 'area', rows: 10, required: true,
        value: stringify(Object.fromEntries(Object.entries(values).filter(([key]) => !WRITTEN.includes(key))), 2),
      },
      { name: 'parents', label: 'Runs after', value: node.parents.join(', '), placeholder: 'ids, separated by commas; empty: at once' },
    ],
    async ({ name, data, parents }) => {
      try {
        JSON.parse(data);
      } catch (failure) {
        throw new Error(`The data are not JSON: ${failure.message}`);
      }
      const metadata = { type: node.type, ...(name && { name }), ...(parents.trim() && { parents: idsIn(parents) }) };
      // The text goes as it was written, so that large numbers keep their digits.
      const [added] = await sendJson('POST', 'v1/nodes', `[{"metadata": ${stringify(metadata)}, "data": ${data}}]`);
      location.hash = `#/graph/${added.id}`;
    },
    { yes: 'Submit' });

/** The orders of the list of nodes, besides by id: the number of a node, of which the greatest is first. */
const ORDERS = {
  'started last': node => node.started,
  'ended last': node => node.ended,
  'ran longest': node => node.started && (node.ended ?? Date.now()) - node.started,
  'most attempts': node => node.attempt,
};

const ordered = (nodes, order) => {
  if (order === 'name') return nodes.toSorted((a, b) => compareNames(a.name ?? '', b.name ?? ''));
  const number = Object.hasOwn(ORDERS, order) ? ORDERS[order] : null;
  return number ? nodes.toSorted((a, b) => (number(b) ?? -1) - (number(a) ?? -1)) : nodes;
};

const ran = node => (node.started ? duration((node.ended ?? Date.now()) - node.started) : nothing);

/** The page of the whole graph, or of one node and those below it. It follows the events of the graph. */
class Graph extends LitElement {
  static properties = { route: { attribute: false }, nodes: { state: true }, failure: { state: true }, folded: { state: true } };

  chosen = new Set();

  constructor() {
    super();
    this.folded = new Set();
  }

  createRenderRoot() {
    return this;
  }

  /** Hides what is below a node in the drawing, or shows it again. */
  #fold(id) {
    const folded = new Set(this.folded);
    if (!folded.delete(id)) folded.add(id);
    this.folded = folded;
  }

  willUpdate(changed) {
    if (!changed.has('route')) return;
    const below = this.route.parameters.below ?? '';
    if (this.below === below) return;
    this.below = below;
    this.#follow();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.stop?.();
    this.below = undefined;
  }

  #follow() {
    this.stop?.();
    const nodes = new Map();
    this.nodes = undefined;
    get(`v1/nodes${query({ below: this.below, metadata: 'name', start: '' })}`).then(
      () => (this.failure = null),
      failure => (this.failure = failure.message));
    let timer = null;
    this.stop = subscribe(`v1/events${query({ below: this.below })}`, event => {
      if (event.name === 'start') {
        nodes.clear();
        return;
      }
      const data = JSON.parse(event.data);
      if (data.nodes) {
        nodes.clear();
        data.nodes.forEach(node => nodes.set(node.id, node));
      } else {
        data.changed?.forEach(node => nodes.set(node.id, node));
        data.removed?.forEach(id => nodes.delete(id));
      }
      timer ??= setTimeout(() => {
        timer = null;
        this.nodes = [...nodes.values()];
      }, this.nodes ? 250 : 0);
    });
  }

  #set(changes) {
    location.replace(href(this.route.path, { ...this.route.parameters, ...changes }));
  }

  render() {
    if (this.failure) return html`${head('Graph')}<p class="banner bad" role="alert">${this.failure}</p>`;
    if (!this.nodes) return html`${head('Graph')}<p class="calm" aria-busy="true">Loading</p>`;
    const { state, name, show, order, below, from } = this.route.parameters;
    if (this.nodes.length === 0) {
      return html`${head('Graph')}${empty('The graph is empty', 'A graph has commands that run once those above them have finished.', './millrace graph run hello.yaml')}`;
    }
    const text = (name ?? '').toLowerCase();
    const shown = this.nodes.filter(node =>
      (!state || node.state === state) &&
      (!text || `${node.name ?? ''} ${node.id} ${node.type}`.toLowerCase().includes(text)));
    const counts = Object.groupBy(this.nodes, node => node.state);
    const begin = Number(from ?? 0);
    return html`
      ${head(below ? html`Below node ${below}` : 'Graph', {
        above: below ? [[['graph'], 'Graph'], [['graph', below], below]] : [],
        actions: html`
          ${button('Add a node', () => this.#add(), { role: 'submitter', kind: '' })}
          ${text ? nothing : bulkLink('nodes', wantedNodes(this.route.parameters))}`,
      })}
      <div class="legend">
        ${STATES.filter(word => counts[word]).map(word => html`
          <a href=${href(this.route.path, { ...this.route.parameters, state: state === word ? null : word, from: null })} aria-current=${state === word ? 'true' : 'false'}>
            ${status(word)} ${count(counts[word].length)}
          </a>`)}
      </div>
      <div class="filters">
        ${field('Name or id', name, name => this.#set({ name, from: null }))}
        ${select('State', state, [['', 'any'], ...STATES.map(word => [word, word])], state => this.#set({ state, from: null }))}
        ${select('Order', order, [['', 'by id'], ['name', 'by name'], ...Object.keys(ORDERS).map(each => [each, each])], order => this.#set({ order, from: null }))}
        ${select('Show', show, [['', 'drawing and list'], ['list', 'list'], ['drawing', 'drawing']], show => this.#set({ show }))}
      </div>
      ${show === 'list' ? nothing : html`<millrace-drawing
        .nodes=${this.nodes} .shown=${state || text ? new Set(shown.map(node => node.id)) : null} .folded=${this.folded}
        @fold=${event => this.#fold(event.detail)} @unfold=${() => (this.folded = new Set())}></millrace-drawing>`}
      ${show === 'drawing' ? nothing : this.#list(ordered(shown, order), begin, show !== 'list')}
      ${chosenBar(this.chosen, nodeActions, () => this.requestUpdate())}
      ${commandLine(below ? `./millrace graph show --below ${below}` : './millrace graph show')}
    `;
  }

  #list(shown, begin, drawn) {
    const rows = shown.slice(begin, begin + MAX_ROWS);
    const above = new Set(drawn ? this.nodes.flatMap(node => node.parents) : []);
    return html`
      ${table(
        [
          chooser(rows, node => node.id, this.chosen, () => this.requestUpdate()),
          { title: 'Node', value: node => link(['graph', node.id], node.name ?? node.id) },
          { title: 'Id', kind: 'number', value: node => node.id },
          { title: 'Type', value: node => node.type },
          { title: 'State', value: node => status(node.state) },
          { title: 'Why', kind: 'wide', value: node => node.reason ?? '' },
          { title: 'Above', value: node => node.parents.slice(0, 5).map((id, index) => html`${index ? ', ' : ''}${link(['graph', id], id)}`) },
          { title: 'Started', value: node => time(node.started) },
          { title: 'Ran', kind: 'number', value: ran },
          ...(above.size
            ? [{
                title: ACTIONS, kind: 'buttons',
                value: node => above.has(node.id)
                  ? html`<button
                      type="button" class="secondary small" aria-expanded=${this.folded.has(node.id) ? 'false' : 'true'}
                      title="Hide what is below it in the drawing, or show it again" @click=${() => this.#fold(node.id)}
                      >${this.folded.has(node.id) ? 'Unfold' : 'Fold'}<span class="hidden"> what is below ${node.name ?? node.id}</span></button>`
                  : nothing,
              }]
            : []),
        ],
        rows,
        { caption: 'Nodes', none: empty('No such nodes', 'Change the filters.') })}
      <nav class="pager" aria-label="Pages">
        ${begin > 0 ? html`<a href=${href(this.route.path, { ...this.route.parameters, from: begin - MAX_ROWS || null })}>Previous page</a>` : nothing}
        ${shown.length > begin + MAX_ROWS ? html`<a href=${href(this.route.path, { ...this.route.parameters, from: begin + MAX_ROWS })}>Next page (${count(shown.length - begin - MAX_ROWS)} more)</a>` : nothing}
      </nav>
    `;
  }

  #add() {
    edit(
      'Add a node',
      [
        { name: 'name', label: 'Name' },
        { name: 'script', label: 'Script for bash', kind: 'area', value: 'date', required: true },
        { name: 'parents', label: 'Runs after', value: this.below ?? '', placeholder: 'ids, separated by commas; empty: at once' },
      ],
      async values => {
        const parents = idsIn(values.parents);
        const metadata = { type: 'shell command' };
        if (values.name) metadata.name = values.name;
        if (parents.length) metadata.parents = parents;
        const [added] = await change('POST', 'v1/nodes', [{ metadata, data: { command: values.script } }]);
        location.hash = `#/graph/${added.id}`;
      },
      { yes: 'Add' });
  }
}

/** The places that an edge passes, relative to its ends: how far along it, and how far beside it. */
function bent(from, to, places) {
  const [x, y] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(x, y);
  return {
    weights: places.map(place => ((place.x - from.x) * x + (place.y - from.y) * y) / length ** 2),
    distances: places.map(place => ((place.y - from.y) * x - (place.x - from.x) * y) / length),
  };
}

/** The graph as a picture: nodes in layers, with colours for their states. */
class Drawing extends LitElement {
  static properties = { nodes: { attribute: false }, shown: { attribute: false }, folded: { attribute: false } };

  createRenderRoot() {
    return this;
  }

  constructor() {
    super();
    this.restyle = () => this.picture?.style(this.#style());
  }

  connectedCallback() {
    super.connectedCallback();
    addEventListener('millrace-theme', this.restyle);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    removeEventListener('millrace-theme', this.restyle);
    this.sizes?.disconnect();
    this.picture?.destroy();
    this.picture = null;
  }

  #style() {
    const colours = getComputedStyle(document.documentElement);
    const of = name => colours.getPropertyValue(name).trim();
    return [
      {
        selector: 'node',
        style: {
          shape: 'round-rectangle', width: 132, height: 32, 'background-color': of('--calm-back'), 'border-width': 1.5,
          'border-color': of('--line'), label: 'data(label)', color: of('--text'), 'font-size': 12,
          'font-family': 'system-ui, sans-serif', 'text-valign': 'center', 'text-wrap': 'ellipsis', 'text-max-width': 118,
          'min-zoomed-font-size': 6,
        },
      },
      ...['good', 'bad', 'busy', 'held'].map(name => ({
        selector: `node[tone="${name}"]`,
        style: { 'background-color': of(`--${name}-back`), 'border-color': of(`--${name}`) },
      })),
      { selector: 'node[state="running"]', style: { 'border-width': 3 } },
      { selector: 'node[folded > 0]', style: { 'border-style': 'double', 'border-width': 5 } },
      { selector: 'node.dim', style: { opacity: 0.2 } },
      {
        selector: 'edge',
        style: {
          width: 1.4, 'line-color': of('--line'), 'target-arrow-color': of('--line'), 'target-arrow-shape': 'triangle',
          'arrow-scale': 0.8, 'curve-style': this.nodes.length > 2000 ? 'haystack' : 'bezier',
        },
      },
      {
        selector: 'edge[weights]',
        style: {
          'curve-style': 'round-segments', 'segment-weights': 'data(weights)', 'segment-distances': 'data(distances)',
          'edge-distances': 'node-position', 'segment-radii': 12, 'radius-type': 'arc-radius',
        },
      },
      { selector: 'edge[kind="after"]', style: { 'line-style': 'dashed' } },
      { selector: 'edge[branch]', style: { label: 'data(branch)', 'font-size': 10, color: of('--pico-muted-color') } },
    ];
  }

  /** The nodes that are not below a folded one, and how many each folded one hides. */
  #visible() {
    const below = new Map();
    for (const node of this.nodes) {
      for (const parent of node.parents) {
        if (!below.has(parent)) below.set(parent, []);
        below.get(parent).push(node.id);
      }
    }
    const hidden = new Set();
    const hides = new Map();
    for (const id of this.folded) {
      const found = new Set();
      const open = [...(below.get(id) ?? [])];
      while (open.length) {
        const next = open.pop();
        if (found.has(next)) continue;
        found.add(next);
        open.push(...(below.get(next) ?? []));
      }
      hides.set(id, found.size);
      found.forEach(one => hidden.add(one));
    }
    return { nodes: this.nodes.filter(node => !hidden.has(node.id)), hides };
  }

  updated() {
    const { nodes, hides } = this.#visible();
    const shape = nodes.map(node => `${node.id}:${node.parents}:${node.after}`).join(';');
    if (!this.picture || this.shape !== shape) {
      this.shape = shape;
      this.#draw(nodes, hides);
    } else {
      this.#refresh(nodes, hides);
    }
  }

  /** Draws all anew. Many elements are added in parts, between which the page answers. */
  async #draw(nodes, hides) {
    const area = this.querySelector('.drawing-area');
    const before = this.picture ? { zoom: this.picture.zoom(), pan: { ...this.picture.pan() } } : null;
    this.picture?.destroy();
    const ids = new Set(nodes.map(node => node.id));
    const { positions, bends } = layered(nodes.map(node => ({ id: node.id, parents: [...node.parents, ...node.after].filter(id => ids.has(id)) })));
    const edges = [];
    for (const node of nodes) {
      for (const [parents, kind] of [[node.parents, 'parent'], [node.after, 'after']]) {
        for (const parent of parents) {
          if (!ids.has(parent)) continue;
          const data = { id: `${kind}-${parent}-${node.id}`, source: parent, target: node.id, kind };
          if (node.branch && kind === 'parent') data.branch = node.branch;
          const places = bends.get(`${parent}-${node.id}`);
          if (places) Object.assign(data, bent(positions.get(parent), positions.get(node.id), places));
          edges.push({ data });
        }
      }
    }
    const picture = cytoscape({
      container: area, layout: { name: 'preset' }, style: this.#style(), minZoom: 0.02, maxZoom: 2.5,
      boxSelectionEnabled: false, autoungrabify: true,
      textureOnViewport: nodes.length > 2000, hideEdgesOnViewport: nodes.length > 2000,
    });
    this.picture = picture;
    this.drawn = new Map();
    picture.viewport(before ?? this.#fitting(positions));
    this.#watchSize(area, positions);
    const fold = event => this.dispatchEvent(new CustomEvent('fold', { detail: event.target.id() }));
    let held = false;
    picture.on('tapstart', () => (held = false));
    picture.on('tap', 'node', event => held || (location.hash = `#/graph/${event.target.id()}`));
    picture.on('cxttap', 'node', fold);
    picture.on('taphold', 'node', event => {
      held = true;
      fold(event);
    });
    picture.on('mouseover', 'node', () => (area.dataset.over = 'node'));
    picture.on('mouseout', 'node', () => delete area.dataset.over);
    const elements = [...nodes.map(node => ({ data: this.#drawn(node, hides), position: positions.get(node.id) })), ...edges];
    for (let from = 0; from < elements.length; from += PART) {
      if (from > 0) await new Promise(resolve => setTimeout(resolve));
      if (this.picture !== picture) return;
      picture.add(elements.slice(from, from + PART));
    }
    const now = this.#visible();
    this.#refresh(now.nodes, now.hides);
  }

  /** Shows all again when the area gets another size, for example when a phone is turned. */
  #watchSize(area, positions) {
    this.sizes?.disconnect();
    let width = area.clientWidth;
    this.sizes = new ResizeObserver(() => {
      if (area.clientWidth === width || !this.picture) return;
      width = area.clientWidth;
      this.picture.resize();
      this.picture.viewport(this.#fitting(positions));
    });
    this.sizes.observe(area);
  }

  /** The part of the plane that shows all positions. */
  #fitting(positions) {
    const area = this.querySelector('.drawing-area');
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { x, y } of positions.values()) {
      [left, right, top, bottom] = [Math.min(left, x - 66), Math.max(right, x + 66), Math.min(top, y - 16), Math.max(bottom, y + 16)];
    }
    const zoom = Math.max(0.02, Math.min((area.clientWidth - 48) / (right - left), (area.clientHeight - 48) / (bottom - top), 1.1));
    return { zoom, pan: { x: area.clientWidth / 2 - (zoom * (left + right)) / 2, y: area.clientHeight / 2 - (zoom * (top + bottom)) / 2 } };
  }

  /** Shows what has changed in nodes that are drawn. */
  #refresh(nodes, hides) {
    this.picture.batch(() => {
      for (const node of nodes) {
        const data = this.#drawn(node, hides);
        const dim = Boolean(this.shown && !this.shown.has(node.id));
        const key = `${data.state} ${dim} ${data.label}`;
        if (this.drawn.get(node.id) === key) continue;
        const drawn = this.picture.getElementById(node.id);
        if (drawn.empty()) continue;
        this.drawn.set(node.id, key);
        drawn.data(data);
        drawn.toggleClass('dim', dim);
      }
    });
  }

  #drawn(node, hides) {
    const hidden = hides.get(node.id) ?? 0;
    return {
      id: node.id, label: `${node.name ?? node.id}${hidden ? ` (+${hidden})` : ''}`, state: node.state,
      tone: tone(node.state), folded: hidden,
    };
  }

  #zoom(factor) {
    this.picture.zoom({ level: this.picture.zoom() * factor, renderedPosition: { x: this.picture.width() / 2, y: this.picture.height() / 2 } });
  }

  render() {
    return html`
      <div class="drawing">
        <div class="drawing-area" role="img" aria-label="The graph as a picture; the list below has the same nodes"></div>
        <div class="drawing-tools">
          <button type="button" class="secondary small" aria-label="Zoom in" @click=${() => this.#zoom(1.3)}>+</button>
          <button type="button" class="secondary small" aria-label="Zoom out" @click=${() => this.#zoom(1 / 1.3)}>−</button>
          <button type="button" class="secondary small" @click=${() => this.picture.fit(undefined, 24)}>Fit</button>
          ${this.folded.size ? html`<button type="button" class="secondary small" @click=${() => this.dispatchEvent(new CustomEvent('unfold'))}>Unfold all</button>` : nothing}
        </div>
        <p class="calm drawing-help">Click a node to open it. Hold it or right-click it to fold what is below, or use the list.</p>
      </div>
    `;
  }
}

class Node extends View {
  interval = 2000;

  async load() {
    const id = this.route.path[1];
    const path = nodePath(id);
    const [node, keys] = await Promise.all([get(path), get(`${path}/data`)]);
    this.follow(`v1/events${query({ below: id, after: undefined, metadata: 'state' })}`);
    const values = {};
    let whole = !keys.pagination?.next && keys.keys.length <= 50;
    for (const key of keys.keys.filter(key => !['stdout', 'stderr', 'mixedout'].includes(key)).slice(0, 50)) {
      const found = await get(`${path}/data/${segment(key)}`).catch(() => null);
      whole &&= found !== null && !found.pagination?.next;
      values[key] = found?.data ?? null;
    }
    const output = {};
    for (const key of ['stdout', 'stderr'].filter(key => keys.keys.includes(key))) {
      const found = await get(`${path}/data/${key}`).catch(() => null);
      if (found) output[key] = { text: found.data, more: Boolean(found.pagination?.next), growing: Boolean(found.growing) };
    }
    const waits = ['incipient', 'ready', 'blocked'].includes(node.state);
    const waiting = waits ? await get(`why/${segment(id)}?kind=node`).catch(() => null) : null;
    return { node, values, whole, output, waiting };
  }

  content() {
    const { node, values, whole, output, waiting } = this.data;
    const path = nodePath(node.id);
    const act = (action, done) => async () => {
      await attempt(action, done);
      this.reload();
    };
    const over = ['finished', 'failed', 'killed', 'skipped'].includes(node.state);
    return html`
      ${head(node.name ?? `Node ${node.id}`, {
        above: [[['graph'], 'Graph']],
        note: html`${status(node.state)} ${node.reason ? html`<span>${node.reason}</span>` : nothing}`,
        actions: html`
          ${button('Retry', act(() => change('POST', `${path}/retry`), 'Offered again'), { shown: node.state === 'failed' || node.state === 'killed' })}
          ${button('Kill', act(() => change('PUT', `v1/scheduler/kill${query({ id: node.id })}`), 'Told to end'), { shown: !over, kind: 'danger' })}
          ${button('Edit and submit', () => submitLike(node, values), { role: 'submitter', shown: whole && Object.keys(values).length > 0 })}
          ${button('Remove', async () => {
            if (!(await ask('Remove this node and all below it?', '', 'Remove'))) return;
            if (await attempt(() => change('DELETE', `${path}?below=true`), found => `${found.removed} removed`)) location.hash = '#/graph';
          }, { kind: 'danger', shown: node.state !== 'running' })}
          <a class="secondary small" role="button" href=${href(['graph'], { below: node.id })}>Draw what is below</a>
        `,
      })}
      ${reasons(waiting)}
      ${facts([
        ['Id', node.id],
        ['Type', node.type],
        ['Above', node.parents.length ? node.parents.map((id, index) => html`${index ? ', ' : ''}${link(['graph', id], id)}`) : 'root'],
        ['After', node.after.length ? node.after.map((id, index) => html`${index ? ', ' : ''}${link(['graph', id], id)}`) : null],
        ['Branch', node.branch],
        ['Took', node.taken && `the branch ${node.taken}`],
        ['Attempt', node.attempt || null],
        ['Interrupted', node.interrupted],
        ['Created', html`${moment(node.created)} · ${time(node.created)}`],
        ['Started', node.started && moment(node.started)],
        ['Ended', node.ended && moment(node.ended)],
        ['Ran', ran(node)],
        ['Not before', node.notBefore && moment(node.notBefore)],
      ])}
      ${attemptHistory(node.endedAttempts)}
      <h2>Data</h2>
      ${Object.keys(values).length ? json(values) : html`<p class="calm">It has none.</p>`}
      ${Object.entries(output).map(([key, found]) => html`
        <h2>${key} ${found.growing ? html`<span class="status busy">live</span>` : nothing}</h2>
        ${found.text || found.growing ? html`<pre tabindex="0" role="region" aria-label=${key}>${found.text}</pre>` : html`<p class="calm">Nothing was written.</p>`}
        ${found.more ? html`<p class="calm">This is its first page. ${brief(`./millrace graph output ${node.id}`)} prints all of it.</p>` : nothing}
      `)}
      ${commandLine(`./millrace graph output ${node.id}`)}
    `;
  }
}

define('millrace-graph', Graph);
define('millrace-drawing', Drawing);
define('millrace-node', Node);
