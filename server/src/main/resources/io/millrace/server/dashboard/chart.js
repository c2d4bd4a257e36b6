// Charts of figures over time.

import { LitElement, html } from 'lit';
import { Chart, Filler, LineController, LineElement, LinearScale, PointElement, Tooltip } from 'chart.js';
import { duration, short } from './format.js';
import { define } from './view.js';

Chart.register(Filler, LineController, LineElement, LinearScale, PointElement, Tooltip);

const pad = number => String(number).padStart(2, '0');
const clock = at => {
  const date = new Date(at);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
};

/**
 * Lines over time.
 *
 * - `lines`: `{name, colour, points: [{x: ms, y}]}` each; the colour is the name of a variable of the style sheet
 * - `unit`: `ms` for durations, otherwise nothing
 * - `span`: the time that it shows until now, in ms
 */
class LineChart extends LitElement {
  static properties = { lines: { attribute: false }, unit: {}, label: {}, span: { attribute: false } };

  createRenderRoot() {
    return this;
  }

  constructor() {
    super();
    this.recolour = () => {
      this.chart?.destroy();
      this.chart = null;
      this.requestUpdate();
    };
  }

  connectedCallback() {
    super.connectedCallback();
    addEventListener('millrace-theme', this.recolour);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    removeEventListener('millrace-theme', this.recolour);
    this.chart?.destroy();
    this.chart = null;
  }

  updated() {
    const colours = getComputedStyle(document.documentElement);
    const of = name => colours.getPropertyValue(name).trim();
    const show = value => (this.unit === 'ms' ? duration(value) : short(value));
    const datasets = this.lines.map(line => ({
      label: line.name,
      data: line.points,
      borderColor: of(line.colour),
      backgroundColor: `color-mix(in srgb, ${of(line.colour)} 12%, transparent)`,
      fill: this.lines.length === 1,
      borderWidth: 1.8,
      // A line needs two points; one between gaps is shown as a dot.
      pointRadius: ({ dataIndex, dataset: { data } }) => (data[dataIndex - 1]?.y ?? data[dataIndex + 1]?.y ?? null) === null ? 2 : 0,
      tension: 0.25,
      spanGaps: false,
    }));
    if (this.chart) {
      this.chart.data.datasets.forEach((dataset, index) => (dataset.data = datasets[index].data));
      this.chart.options.scales.x.max = Date.now();
      this.chart.options.scales.x.min = Date.now() - this.span;
      this.chart.update('none');
      return;
    }
    this.chart = new Chart(this.querySelector('canvas'), {
      type: 'line',
      data: { datasets },
      options: {
        animation: false,
        parsing: false,
        responsive: true,
        maintainAspectRatio: false,
        interaction: { mode: 'index', intersect: false },
        scales: {
          x: {
            type: 'linear', min: Date.now() - this.span, max: Date.now(), grid: { display: false }, border: { color: of('--line') },
            ticks: { color: of('--pico-muted-color'), maxRotation: 0, callback: value => clock(value).slice(0, 5) },
            afterBuildTicks: axis => (axis.ticks = [0, 0.5, 1].map(part => ({ value: axis.min + part * (axis.max - axis.min) }))),
          },
          y: {
            beginAtZero: true, suggestedMax: 1, border: { display: false }, grid: { color: of('--line-faint') },
            ticks: { color: of('--pico-muted-color'), maxTicksLimit: 4, callback: show },
          },
        },
        plugins: {
          tooltip: {
            callbacks: { title: items => clock(items[0].parsed.x), label: item => `${item.dataset.label}: ${show(item.parsed.y)}` },
          },
        },
      },
    });
  }

  render() {
    return html`
      <figure class="chart">
        <figcaption>
          <strong>${this.label}</strong>
          ${this.lines.map(line => html`<span class="key ${line.colour.slice(2)}">${line.name}</span>`)}
        </figcaption>
        <div class="chart-area"><canvas role="img" aria-label=${this.label}></canvas></div>
      </figure>
    `;
  }
}

define('millrace-chart', LineChart);
