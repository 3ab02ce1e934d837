//! Bars over iterations as SVG, and bars of a share.

use maud::{Markup, html};

const BAR_WIDTH: usize = 6;
const HEIGHT: u64 = 60;

/// One bar for each value; `None` leaves a gap. `label` describes the chart to screen readers.
pub(super) fn bars(values: &[Option<u64>], label: &str) -> Option<Markup> {
    let highest = values.iter().flatten().copied().max().filter(|it| *it > 0)?;
    let width = values.len() * BAR_WIDTH;
    let bar = |(index, value): (usize, &Option<u64>)| {
        let height = scale((*value)?, highest).max(1);
        Some((index * BAR_WIDTH, HEIGHT - height, height))
    };
    Some(html! {
        svg role="img" aria-label=(label) width=(width) height=(HEIGHT) viewBox={"0 0 " (width) " " (HEIGHT)} {
            @for (x, y, height) in values.iter().enumerate().filter_map(bar) {
                rect x=(x) y=(y) width=(BAR_WIDTH - 1) height=(height) {}
            }
        }
    })
}

fn scale(value: u64, highest: u64) -> u64 {
    let scaled = u128::from(value) * u128::from(HEIGHT) / u128::from(highest.max(1));
    u64::try_from(scaled).unwrap_or(HEIGHT)
}

/// A share in percent; the text next to it contains the same number.
pub(super) fn share(percent: u64) -> Markup {
    html! {
        svg.share aria-hidden="true" width="200" height="10" viewBox="0 0 200 10" {
            rect.track width="200" height="10" {}
            rect width=(percent.min(100) * 2) height="10" {}
        }
    }
}
