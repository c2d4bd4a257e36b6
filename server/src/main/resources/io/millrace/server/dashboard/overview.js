// The first page: what happens, and what needs attention.

import { html, nothing } from 'lit';
import { get, query } from './http.js';
import { count, millis, moment, short } from './format.js';
import { View, commandLine, define, head, href, link, session, status } from './view.js';
import './chart.js';

const SPANS = [['10', '10 minutes'], ['60', '1 hour'], ['1440', '1 day']];

const KINDS = [['tasks', 'queue tasks', '--busy'], ['jobs', 'jobs', '--good'], ['nodes', 'graph nodes', '--third']];

/** Rates of shorter times than this jump too much to be shown, in ms. */
const SHORTEST = 1500;

/** How long a missed run of a schedule needs attention after it was noticed, in milliseconds. */
const DAY = 86_400_000;

/** The history of the server as far as it has been read: it outlives a change of the page. */
let known = null;

/** Reads what is new in the history; null if it is not for this user. */
async function readHistory(minutes) {
  // The last sample is of the time of the request, so it is asked for again.
  const same = known?.minutes === minutes && known.samples.length > 1 ? known : null;
  const kept = same ? same.samples.slice(0, -1) : [];
  const answer = await get(`history${query({ minutes, after: kept.at(-1)?.at })}`).catch(failure => {
    if (failure.status === 403) return null;
    throw failure;
  });
  if (answer === null) return null;
  if (same && same.started !== answer.started) {
    known = null;
    return readHistory(minutes);
  }
  const fresh = answer.at.map((at, index) => {
    const sample = { at };
    for (const kind of ['tasks', 'jobs', 'nodes', 'requests']) {
      sample[kind] = Object.fromEntries(Object.entries(answer[kind] ?? {}).map(([name, column]) => [name, column[index]]));
    }
    return sample;
  });
  const from = (fresh.at(-1)?.at ?? Date.now()) - minutes * 60_000;
  known = { minutes, started: answer.started, samples: [...kept, ...fresh].filter(sample => sample.at >= from) };
  return known;
}

class Overview extends View {
  interval = 2000;

  #minutes() {
    const wanted = this.route.parameters.span;
    return Number(SPANS.find(([value]) => value === wanted)?.[0] ?? 10);
  }

  async load() {
    const optional = path => get(path).catch(() => null);
    const [history, health, queues, nodes, workers, types, schedules, limits] = await Promise.all([
      readHistory(this.#minutes()),
      optional('health'),
      optional('dci/queues'),
      optional('dci/nodes'),
      optional('api/workers'),
      optional('api/types'),
      optional(`schedules${query({ limit: 1000 })}`),
      optional('limits'),
    ]);
    const tasks = field => (queues ?? []).reduce((total, queue) => total + queue[field], 0);
    const { jobs = {}, nodes: graph = {} } = history?.samples.at(-1) ?? {};
    const figures = {
      tasks: { waiting: tasks('queued'), running: tasks('running'), done: tasks('completed') },
      jobs: { waiting: jobs.waiting ?? 0, running: jobs.running ?? 0, done: jobs.done ?? 0 },
      graph: { waiting: graph.waiting ?? 0, running: graph.running ?? 0, done: graph.done ?? 0 },
    };
    return { figures, history, health, queues, nodes, workers, types, schedules: schedules?.schedules ?? null, limits: limits?.limits ?? null };
  }

  content() {
    const { figures, history, health, queues, nodes, workers } = this.data;
    const attention = this.#attention();
    return html`
      ${head('Overview', {
        note: health
          ? html`<span class="calm">version ${health.version}, ${health.journaling} journal, up since ${moment(history?.started)}</span>`
          : nothing,
      })}
      ${attention.length
        ? html`
            <section class="attention" aria-label="What needs attention">
              <h2>Needs attention <span class="count">${attention.length}</span></h2>
              <ul>${attention.slice(0, 12).map(([word, text]) => html`<li>${status(word)} <span>${text}</span></li>`)}</ul>
            </section>`
        : html`<p class="banner good">Nothing needs attention.</p>`}
      <div class="tiles">
        ${this.#tile('Queue tasks', href(['queues']), figures.tasks, 'finished')}
        ${this.#tile('Jobs', href(['jobs']), figures.jobs, 'done since the start')}
        ${this.#tile('Graph nodes', href(['graph']), figures.graph, 'finished since the start')}
        <a class="tile" href=${href(['nodes'])}>
          <h3>Machines</h3>
          <p class="figure">${count((nodes ?? []).filter(node => node.state === 'alive').length)}</p>
          <p>execution nodes alive</p>
          <p class="calm">workers connected: ${count((workers ?? []).filter(worker => worker.state !== 'disconnected').length)}</p>
        </a>
      </div>
      ${history
        ? html`
            <nav class="tabs" aria-label="Time shown">
              ${SPANS.map(([value, text]) => html`
                <a href=${href([''], { span: value })} aria-current=${Number(value) === history.minutes ? 'page' : 'false'}>${text}</a>`)}
            </nav>
            <div class="charts">
              ${this.#chart('Finished per second', KINDS.map(([kind, text, colour]) => [text, colour, this.#rate(kind, 'done')]))}
              ${this.#chart('Waiting', KINDS.map(([kind, text, colour]) => [text, colour, this.#level(kind, 'waiting')]))}
              ${this.#chart('Failures per second', KINDS.map(([kind, text, colour]) => [text, colour, this.#rate(kind, 'failed')]))}
              ${this.#chart('Mean latency', [
                ['requests', '--held', this.#mean('requests', 'seconds', 'done')],
                ...KINDS.map(([kind, text, colour]) => [`${kind} wait`, colour, this.#mean(kind, 'wait_seconds', 'starts')]),
              ], 'ms')}
            </div>`
        : nothing}
      ${queues && queues.length === 0 && figures.jobs.done === 0 && session.reach === null ? this.#begin() : nothing}
    `;
  }

  #tile(title, target, { running, waiting, done }, doneText) {
    return html`
      <a class="tile" href=${target}>
        <h3>${title}</h3>
        <p class="figure">${short(running)}</p>
        <p>running</p>
        <p class="calm">${count(waiting)} waiting · ${count(done)} ${doneText}</p>
      </a>
    `;
  }

  #chart(label, lines, unit = '') {
    return html`<millrace-chart
      label=${label} unit=${unit} .span=${this.data.history.minutes * 60_000}
      .lines=${lines.map(([name, colour, points]) => ({ name, colour, points }))}></millrace-chart>`;
  }

  #level(kind, figure) {
    return this.data.history.samples.map(sample => ({ x: sample.at, y: sample[kind][figure] ?? null }));
  }

  /** A point for each pair of samples that are not too close: what `value` makes of the two. */
  #between(value) {
    const points = [];
    let before = null;
    for (const sample of this.data.history.samples) {
      if (before && sample.at - before.at < SHORTEST) continue;
      if (before) points.push({ x: sample.at, y: value(before, sample) });
      before = sample;
    }
    return points;
  }

  #rate = (kind, figure) => this.#between((before, now) => (1000 * (now[kind][figure] - before[kind][figure])) / (now.at - before.at));

  #mean = (kind, total, number) =>
    this.#between((before, now) => {
      const many = now[kind][number] - before[kind][number];
      return many > 0 ? (1000 * (now[kind][total] - before[kind][total])) / many : null;
    });

  /** What a person should look at: a word for the state, and a text with a link. */
  #attention() {
    const { figures, health, queues, nodes, workers, types, schedules, limits } = this.data;
    const found = [];
    if (!health) found.push(['failed', 'the server reports that it cannot work']);
    health?.warnings.forEach(warning => found.push(['failed', warning]));
    for (const queue of queues ?? []) {
      const name = link(['queues', queue.id], queue.name);
      if (queue.halted) found.push(['halted', html`queue ${name}: ${queue.halted.reason}`]);
      else if (queue.suspended.length) found.push(['suspended', html`queue ${name} on ${queue.suspended.map(node => node.node).join(', ')}: ${queue.suspended[0].reason}`]);
      else if (!queue.threads && queue.queued) found.push(['paused', html`queue ${name} runs nothing, and ${queue.queued === 1 ? 'a task waits' : `${count(queue.queued)} tasks wait`}: its threads are 0`]);
    }
    for (const node of nodes ?? []) {
      if (node.state === 'dead') found.push(['dead', html`node ${link(['nodes'], node.node)} has not been heard of since ${moment(node.timestamp)}`]);
    }
    const connected = (workers ?? []).filter(worker => worker.state !== 'disconnected');
    if (workers && figures.jobs.waiting > 0 && connected.length === 0) found.push(['no worker', html`${link(['jobs'], figures.jobs.waiting === 1 ? 'a job waits' : `${count(figures.jobs.waiting)} jobs wait`, { status: 'pending' })}, and no worker is connected`]);
    else for (const type of (workers && types) ?? []) {
      if (type.jobs.pending > 0 && !connected.some(worker => worker.type === type.name)) found.push(['no worker', html`no worker for jobs of type ${link(['jobs'], type.name, { type: type.name, status: 'pending' })}`]);
    }
    for (const schedule of schedules ?? []) {
      const name = link(['schedules', schedule.name], schedule.name);
      if (schedule.paused?.failures) found.push(['paused', html`schedule ${name} has paused after failures`]);
      else if (schedule.last_missed && Date.now() - millis(schedule.last_missed.noticed) < DAY) found.push(['missed', html`schedule ${name} missed its run of ${moment(schedule.last_missed.nominal)}`]);
    }
    for (const limit of limits ?? []) {
      if (limit.running !== null && limit.used >= limit.running) found.push(['limit reached', html`${link(['limits'], limit.name)}: ${count(limit.used)} of ${count(limit.running)}`]);
    }
    return found;
  }

  #begin() {
    return html`
      <section class="begin">
        <h2>Begin here</h2>
        <p>Make a queue, and give it a command to run:</p>
        ${commandLine('./millrace queues create mail --plugin shell --threads 2')}
        ${commandLine("./millrace tasks submit mail command='echo hello' --wait")}
        <p>Or run a worker, and send it a job:</p>
        ${commandLine('./millrace worker -- wc -c')}
        ${commandLine('echo hello | ./millrace jobs submit - --output -')}
      </section>
    `;
  }
}

define('millrace-overview', Overview);
