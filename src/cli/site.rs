//! `attune export --course`: the lessons of the course as a site.

use attune_core::kernel::Kernel;
use attune_core::lesson::{course, glossary};
use attune_view::export::site::{Site, SiteFault};
use attune_view::export::{Format, Pictures};

use super::args::{Common, ExportArgs, ExportTo};
use super::export::{PageContent, page_content};
use super::{Fault, lessons, print, training};

/// Trains every lesson, runs its cells and writes the folder. A lesson whose model is not on this computer has its text alone.
pub fn write(request: &ExportArgs, common: &Common) -> Result<(), Fault> {
    if request.to != ExportTo::File(Format::Web) {
        return Err(Fault::usage("--course: a course is exported as a site of live pages: use --to web"));
    }
    if let Some(option) = request.sentence.option() {
        return Err(Fault::usage(format_args!("{option}: each lesson of a course has sentences of its own")));
    }
    let folder = lessons::folder(common)?;
    let files = course::list(&folder);
    let Some(first) = files.first() else {
        return Err(Fault::usage(format_args!("no lessons in {}", folder.display())));
    };
    let glossary = glossary::beside(&first.path).and_then(|file| glossary::read(&file).ok());
    let mut site = Site::new(&request.output, &files, glossary).map_err(fault)?;
    for file in &files {
        let path = &file.path;
        let lesson = lessons::read(path, common.seed)?;
        if let Some(absent) = lesson.absent_model() {
            let pictures = Pictures::of_lesson(path, absent.needs());
            site.add(&Kernel::new(lesson.into()).snapshot(), None, &pictures).map_err(fault)?;
            continue;
        }
        let mut kernel = training::train_with_tour(lesson, common);
        let trained = training::trained(&kernel, path)?;
        let PageContent { snapshot, answered, pictures } =
            page_content(&mut kernel, trained, path, Format::Web, request.within, common);
        site.add(&snapshot, answered.as_ref(), &pictures).map_err(fault)?;
    }
    print::line(site.write().map_err(fault)?)
}

fn fault(fault: SiteFault) -> Fault {
    match fault {
        SiteFault::Lesson(..) => Fault::Lesson(format!("{fault}\n")),
        SiteFault::Place(_) | SiteFault::Large | SiteFault::Write(_) => {
            Fault::output(format_args!("the site cannot be written: {fault}"))
        }
    }
}
